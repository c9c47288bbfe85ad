// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Text of a plot: made safe for XML, and how much room it will need in a font that is not known
// yet.

#ifndef PINHOLE_KIT_PLOT_TEXT_H
#define PINHOLE_KIT_PLOT_TEXT_H

#include <stdio.h>

// Of a letter, per pixel of its size: a little more than fonts have on average.
#define PH_PLOT_LETTER_WIDTH 0.56

// Escapes what XML would read as markup. Control characters become spaces; in a text that is not
// UTF-8 every byte beyond ASCII becomes a question mark.
void ph_plot_text_write(FILE* file, const char* text);

// Letters, not bytes.
double ph_plot_text_letters(const char* text);

double ph_plot_text_width(const char* text, double size_px);

#endif
