// SPDX-License-Identifier: MIT
const mostPlayers = 65_536;
const mostLoginsOfPlayer = 16;

const keyOf = (login: Uint8Array) => Buffer.from(login).toString('base64');

/** The logins of players: which ones a kick has made invalid, and which streams are in use. A login is known by a hash of
 * its token. */
export class Logins {
  private readonly streams = new Map<number, number[]>(); // of each player, the latest last
  private readonly playerOf = new Map<number, number>(); // of each stream
  private readonly replaced: number[] = [];

  begin(clientId: number, stream: number): void {
    this.streams.set(clientId, [...(this.streams.get(clientId) ?? []), stream]);
    this.playerOf.set(stream, clientId);
  }
  end(stream: number): void {
    const clientId = this.playerOf.get(stream);
    if (clientId === undefined) return;
    this.playerOf.delete(stream);
    const others = this.streams.get(clientId)!.filter((one) => one !== stream);
    if (others.length) this.streams.set(clientId, others);
    else this.streams.delete(clientId);
  }
  /** A player has joined or come back: its oldest streams beyond `most` end. Not before, because a client that resumes its
   * session may have an older connection that nobody has noticed to be dead. */
  limit(clientId: number, most: number): void {
    const streams = this.streams.get(clientId) ?? [];
    if (most > 0) this.replaced.push(...streams.slice(0, Math.max(0, streams.length - most)));
  }
  nextReplaced(): number {
    return this.replaced.shift() ?? 0;
  }

  /** For each player the logins that it has used, and whether they were revoked; the latest player last. */
  private readonly players = new Map<number, Map<string, boolean>>();

  note(clientId: number, login: Uint8Array): void {
    const logins = this.players.get(clientId) ?? new Map<string, boolean>();
    this.players.delete(clientId);
    this.players.set(clientId, logins);
    const key = keyOf(login);
    if (!logins.has(key)) logins.set(key, false);
    if (logins.size > mostLoginsOfPlayer) logins.delete(logins.keys().next().value!);
    if (this.players.size > mostPlayers) this.players.delete(this.players.keys().next().value!);
  }
  isRevoked(clientId: number, login: Uint8Array): boolean {
    return this.players.get(clientId)?.get(keyOf(login)) ?? false;
  }
  /** `all`: every login that the player has used until now. */
  revoke(clientId: number, login: Uint8Array, all: boolean): void {
    this.note(clientId, login);
    const logins = this.players.get(clientId)!;
    for (const key of all ? [...logins.keys()] : [keyOf(login)]) logins.set(key, true);
  }
}
