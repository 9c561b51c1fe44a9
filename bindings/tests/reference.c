/* SPDX-License-Identifier: MIT
 * Reads what a client shows, as a program in C does. */
#include <reckoner.h>
#include <string.h>

#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

enum { CAPACITY = 512 };

#define SAME(member) (memcmp(&a->member, &b->member, sizeof a->member) == 0)

static int same_state(const reckoner_state* a, const reckoner_state* b) {
  return SAME(position) && SAME(velocity) && SAME(acceleration) && SAME(orientation) &&
         SAME(angular_velocity);
}

/* Member by member: the bytes between members are undefined. */
static int same(const reckoner_shown* a, const reckoner_shown* b) {
  return SAME(struct_size) && SAME(archetype) && SAME(entity) && same_state(&a->state, &b->state) &&
         SAME(shown_time_s) && SAME(age_s) && SAME(frame) && same_state(&a->local, &b->local) &&
         SAME(on_route);
}

/* Compares the bits of what a binding read with what this library reads after the same update. Returns the
 * number of differing entities, or -1 if even their number differs. */
EXPORT int reference_compare(reckoner_client* client, const reckoner_shown* shown, int shown_count,
                             const reckoner_entity* entities, const double* positions,
                             const float* orientations, int pose_count);

int reference_compare(reckoner_client* client, const reckoner_shown* shown, int shown_count,
                      const reckoner_entity* entities, const double* positions, const float* orientations,
                      int pose_count) {
  static reckoner_shown expected[CAPACITY];
  reckoner_poses poses;
  size_t count = 0;
  int i, different = 0;
  memset(expected, 0, sizeof expected);
  if (reckoner_client_shown(client, expected, sizeof *expected, CAPACITY, &count) != RECKONER_OK ||
      (int)count != shown_count)
    return -1;
  for (i = 0; i < shown_count; ++i) {
    different += !same(&expected[i], &shown[i]);
  }
  memset(&poses, 0, sizeof poses);
  poses.struct_size = sizeof poses;
  if (reckoner_client_shown_poses(client, &poses) != RECKONER_OK || (int)poses.count != pose_count) return -1;
  for (i = 0; i < pose_count; ++i)
    different += poses.entities[i] != entities[i] ||
                 memcmp(poses.positions + 3 * i, positions + 3 * i, 3 * sizeof *positions) != 0 ||
                 memcmp(poses.orientations + 4 * i, orientations + 4 * i, 4 * sizeof *orientations) != 0;
  return different;
}
