// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Made when a grid is created or grows, so plain: one bucket per squared distance.

#include "vision/spiral.h"

static int distance2(int column, int row)
{
    return column * column + row * row;
}

int ph_spiral_count(int reach)
{
    PH_ASSERT(0 <= reach && reach <= PH_SPIRAL_REACH_MAX);

    int count = 0;
    for (int row = -reach; row <= reach; ++row) {
        for (int column = -reach; column <= reach; ++column) {
            count += distance2(column, row) <= reach * reach;
        }
    }
    return count;
}

void ph_spiral_fill(ph_spiral_step* steps, int reach)
{
    PH_ASSERT(0 <= reach && reach <= PH_SPIRAL_REACH_MAX);

    int next_by_distance2[PH_SPIRAL_REACH_MAX * PH_SPIRAL_REACH_MAX + 2] = {0};
    for (int row = -reach; row <= reach; ++row) {
        for (int column = -reach; column <= reach; ++column) {
            if (distance2(column, row) <= reach * reach) {
                ++next_by_distance2[distance2(column, row) + 1];
            }
        }
    }
    for (int i = 1; i <= reach * reach; ++i) {
        next_by_distance2[i] += next_by_distance2[i - 1];
    }
    for (int row = -reach; row <= reach; ++row) {
        for (int column = -reach; column <= reach; ++column) {
            if (distance2(column, row) <= reach * reach) {
                steps[next_by_distance2[distance2(column, row)]++] =
                    (ph_spiral_step){(int16_t)column, (int16_t)row};
            }
        }
    }
}
