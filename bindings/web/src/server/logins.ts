// SPDX-License-Identifier: MIT
const mostPlayers = 65_536;
const mostLoginsOfPlayer = 16;

const keyOf = (login: Uint8Array) => Buffer.from(login).toString('base64');

/** Which logins of players a kick has made invalid. A login is known by a hash of its token. */
export class Logins {
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
