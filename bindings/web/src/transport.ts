// SPDX-License-Identifier: MIT
// What carries the messages between a client and its server. Another transport needs only opened(), received() and closed().
import { channelDatagramBytes, DataChannel, type PeerConnections } from './channel.js';

const withChannels = 'reckoner.channels';

/** What a transport reports about one connection. Each function may be called at any time after open(). */
export interface ConnectionEvents {
  opened(): void;
  /** A whole message has arrived. The bytes are copied. */
  received(message: Uint8Array): void;
  /** From now on, datagrams travel over an unreliable channel beside the connection, in at most this number of bytes; 0: over
   * the connection again. `reason`: one sentence. */
  moved?(channelBytes: number, reason: string): void;
  /** The connection has ended or could not be made. */
  closed(): void;
}

/** One connection: an ordered and reliable stream of messages. */
export interface Connection {
  /** Sends a message, whose bytes are valid only during the call. False if that is not possible. */
  send(message: Uint8Array<ArrayBuffer>): boolean;
  close(): void;
}

export interface Transport {
  /** Begins a new connection. */
  open(address: string, events: ConnectionEvents): Connection;
}

/** The part of the WebSocket of browsers, Node.js and the package ws that is used here. */
interface WebSocketLike {
  binaryType: string;
  readyState: number;
  protocol: string;
  addEventListener(type: string, listener: (event: any) => void): void;
  send(data: Uint8Array<ArrayBuffer> | string): void;
  close(): void;
}

export interface WebSocketOptions {
  /** Makes the data channel beside the WebSocket; by default the global RTCPeerConnection, which only pages have. Null:
   * everything travels over the WebSocket. */
  peerConnection?: PeerConnections | null;
}

const state = 1; // kinds of messages; docs/WIRE.md
const welcome = 3;

/** A transport over WebSockets. `make` makes one; by default the global WebSocket. In a page, what may be lost travels over a
 * data channel beside it, if the server has data channels and the network lets UDP through. */
export function webSocketTransport(
  make: (address: string, protocols: string[]) => unknown = (address, protocols) => new WebSocket(address, protocols),
  { peerConnection = globalThis.RTCPeerConnection ?? null }: WebSocketOptions = {},
): Transport {
  return {
    open(address, events) {
      // A server without data channels chooses the first one. It would close the WebSocket after an offer.
      const socket = make(address, peerConnection ? ['reckoner', withChannels] : ['reckoner']) as WebSocketLike;
      const isOpen = () => socket.readyState === 1;
      const channel = peerConnection && new DataChannel({
        say: (text) => isOpen() && socket.send(text),
        received: (message) => events.received(message),
        moved: (open, reason) => events.moved?.(open ? channelDatagramBytes : 0, reason),
      }, peerConnection);
      socket.binaryType = 'arraybuffer';
      socket.addEventListener('open', () => events.opened());
      socket.addEventListener('close', () => {
        channel?.close();
        events.closed();
      });
      socket.addEventListener('error', () => {}); // a close event follows
      socket.addEventListener('message', ({ data }: { data: ArrayBuffer | string }) => {
        if (typeof data === 'string') return channel?.hear(data);
        if (!(data instanceof ArrayBuffer)) return;
        const message = new Uint8Array(data);
        events.received(message);
        if (message[0] === welcome && socket.protocol === withChannels && isOpen()) channel?.begin();
      });
      return {
        send(message) {
          if (!isOpen()) return false;
          if (!(message[0] === state && channel?.send(message))) socket.send(message);
          return true;
        },
        close() {
          channel?.close();
          socket.close();
        },
      };
    },
  };
}
