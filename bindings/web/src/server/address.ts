// SPDX-License-Identifier: MIT
import { isIP } from 'node:net';

/** The 16 bytes of an IP address; IPv4 as ::ffff:a.b.c.d. Zeros for what is no address: then all such clients share one
 * limit. */
export function addressBytes(address: string): Uint8Array {
  const bytes = new Uint8Array(16);
  const text = address.replace(/%.*$/, ''); // the zone of a link-local address
  const kind = isIP(text);
  if (kind === 0) return bytes;
  const dotted = text.match(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/);
  const last = dotted ? dotted.slice(1).map(Number) : [];
  if (kind === 4) {
    bytes.set([0xff, 0xff, ...last], 10);
    return bytes;
  }
  // The last 32 bits may be written as IPv4.
  const groups = dotted ? text.slice(0, dotted.index) + [last[0]! * 256 + last[1]!, last[2]! * 256 + last[3]!].map((n) => n.toString(16)).join(':') : text;
  const [head, tail] = groups.split('::').map((half) => (half === '' ? [] : half.split(':').map((group) => parseInt(group, 16))));
  const put = (numbers: number[], at: number) => numbers.forEach((n, i) => bytes.set([n >> 8, n & 255], at + 2 * i));
  put(head!, 0);
  if (tail) put(tail, 16 - 2 * tail.length);
  return bytes;
}
