/* SPDX-License-Identifier: MIT
 * The smallest client in C: joins a server and prints the position of every entity, 60 times a second. Exits
 * with 0 if it showed at least one entity. The server must accept clients without tokens (insecure), and its
 * only archetype must be the default one, "entity".
 *
 *   example_watch HOST PORT [SECONDS]
 */
/* snip: c */
#define _POSIX_C_SOURCE 199309L
#include <reckoner.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now_s(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int argc, char** argv) {
  const double seconds = argc > 3 ? atof(argv[3]) : 1e9;
  char why[200];
  reckoner_archetype kind;
  reckoner_client_config config;
  reckoner_client* client;
  reckoner_shown shown[64];
  double start_s;
  int seen = 0;
  if (argc < 3) return 2;

  reckoner_archetype_init(&kind, sizeof kind);
  reckoner_client_config_init(&config, sizeof config);
  config.archetypes = &kind;
  config.archetype_count = 1;
  config.host = argv[1];
  config.port = (uint16_t)atoi(argv[2]);
  config.insecure = 1;
  if (reckoner_client_create(&config, &client, why, sizeof why) != RECKONER_OK)
    return fprintf(stderr, "%s\n", why), 1;

  for (start_s = now_s();
       now_s() < start_s + seconds && reckoner_client_status(client) <= RECKONER_STATUS_JOINED;) {
    const struct timespec frame = {0, 16000000};
    const double local_s = now_s();
    reckoner_client_event event = {sizeof event, 0, 0, 0, 0, 0};
    size_t count = 0, i;
    reckoner_client_update(client, local_s);
    while (reckoner_client_poll_event(client, &event) == RECKONER_OK)
      continue;
    reckoner_client_shown(client, shown, sizeof *shown, 64, &count);
    for (i = 0; i < count && i < 64; ++i, ++seen)
      printf("%.3f %s %.3f %.3f %.3f\n", local_s - start_s, reckoner_client_name(client, shown[i].entity),
             shown[i].state.position[0], shown[i].state.position[1], shown[i].state.position[2]);
    nanosleep(&frame, NULL);
  }
  reckoner_client_destroy(client);
  return seen > 0 ? 0 : 1;
}
/* snip: end */
