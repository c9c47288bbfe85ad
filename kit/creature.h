// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A ready class for tests, benchmarks and the demo: a creature of an online role-playing game with
// 25 properties, as such a game declares them. Mostly still, often walking, sometimes fighting.

#ifndef PINHOLE_KIT_CREATURE_H
#define PINHOLE_KIT_CREATURE_H

#include <pinhole/schema.h>

#ifdef __cplusplus
extern "C" {
#endif

// The properties, in the order of the schema.
typedef enum ph_creature_property {
    PH_CREATURE_POSITION = 0,
    PH_CREATURE_HEADING,
    PH_CREATURE_SHEET,
    PH_CREATURE_BEHAVIOUR,
    PH_CREATURE_NAME,
    PH_CREATURE_TARGET,
    PH_CREATURE_MODE,
    PH_CREATURE_APPEARANCE_A,
    PH_CREATURE_APPEARANCE_B,
    PH_CREATURE_APPEARANCE_C,
    PH_CREATURE_MOUNT,
    PH_CREATURE_RIDER,
    PH_CREATURE_HIT_POINTS,
    PH_CREATURE_STAMINA,
    PH_CREATURE_SAP,
    PH_CREATURE_FOCUS,
    PH_CREATURE_CONTEXT,
    PH_CREATURE_GUILD_SYMBOL,
    PH_CREATURE_GUILD_NAME,
    PH_CREATURE_EFFECTS,
    PH_CREATURE_EVENT_FACTION,
    PH_CREATURE_DUEL_MODE,
    PH_CREATURE_CLAN,
    PH_CREATURE_PEOPLE,
    PH_CREATURE_OUTPOST,
    PH_CREATURE_PROPERTY_COUNT
} ph_creature_property;

enum {
    PH_CREATURE_NAME_MAX = 31,
    PH_CREATURE_GUILD_NAME_MAX = 23,
    PH_CREATURE_EFFECTS_MAX = 16,
    PH_CREATURE_BAR_TOP = 127, // bars are 0..127: seven bits
};

// Viewers with this audience bit belong to the creature's team and see all of its bars.
#define PH_CREATURE_AUDIENCE_TEAM 0x1u

// {0} is a creature at (0, 0, 0) that looks along the x axis, without name, target or guild.
typedef struct ph_creature {
    int32_t position_mm[3];
    float heading_deg;
    uint32_t sheet;    // what it is: a line of the game's bestiary
    uint8_t behaviour; // what it does at this moment: idle, attack, emote ...; 0..95
    uint8_t mode;      // walking, sitting, in combat, dead ...; 0..19
    uint8_t event_faction;
    uint8_t duel_mode; // bits: safe zone, flagged, in duel; 0..7
    char name[PH_CREATURE_NAME_MAX + 1];
    ph_entity_id target;
    // What it wears: clothes; weapons and hair; face and body, packed by the game.
    uint32_t appearance_a;
    uint32_t appearance_b;
    uint32_t appearance_c;
    ph_entity_id mount; // what it sits on
    ph_entity_id rider; // the entity that sits on it
    uint8_t hit_points; // bars, 0..PH_CREATURE_BAR_TOP
    uint8_t stamina;
    uint8_t sap;
    uint8_t focus;
    uint16_t context; // what its player may do with it now: bits; 0..4095
    uint16_t outpost; // which one it fights for; 0: none
    uint32_t guild_symbol;
    char guild_name[PH_CREATURE_GUILD_NAME_MAX + 1];
    // Spells and other effects on it, one byte each.
    uint16_t effect_count;
    uint8_t effects[PH_CREATURE_EFFECTS_MAX];
    uint8_t clan;   // 0: none; 0..15
    uint8_t people; // of its owner; 0..7
} ph_creature;

// The class, bound to ph_creature. Static storage: valid for ever.
ph_class_def ph_creature_class(void);

#ifdef __cplusplus
}
#endif

#endif
