// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Models of the pinhole profile learned from what viewers were sent: counts of symbols become codes of
// models (schema/learned_models.h), which a schema brings along.
//
// A run is counted with a trial schema: it has a model for each property that models may be learned of,
// so that its symbols are counted apart. What was seen seldom stays near the models that the base has;
// a model that saves less than it is worth is left out. Whole numbers only: the same everywhere.

#ifndef PINHOLE_KIT_LEARN_H
#define PINHOLE_KIT_LEARN_H

#include "kit/fault.h"
#include "schema/model_tables.h"

#include <pinhole/schema.h>

// The base with models for its properties that say little. @return NULL with *fault filled.
ph_schema* ph_learn_trial(const ph_schema* base, ph_fault* fault);

// The base with models learned from counts of runs with its trial schema. has_flags: also of which slots are
// told, for games whose senders always have bits for all of it. @return As above.
ph_schema* ph_learn_schema(const ph_schema* base, const ph_pinhole_counts* counts, bool has_flags,
                           ph_fault* fault);

// The schema with other codes of models, which are freed (schema/learned_models.h). @return As above.
ph_schema* ph_learn_remake(const ph_schema* schema, uint8_t* codes, ph_fault* fault);

// What the symbols counted and the bits beside them take with the models of a schema, in 1/256 bit. Those
// of the trial schema are charged for what the trial's own models say, so compare learned ones only.
uint64_t ph_learn_cost256(const ph_schema* schema, const ph_pinhole_counts* counts);

// How many models a schema brings along.
int ph_learn_model_count(const ph_schema* schema);

// So many times.
void ph_learn_add(ph_pinhole_counts* sum, const ph_pinhole_counts* more, int weight);

#endif
