// SPDX-License-Identifier: MIT
// What carries the messages between a client and its server. Another transport needs only these three calls.

/** What a transport reports about one connection. Each function may be called at any time after open(). */
export interface ConnectionEvents {
  opened(): void;
  /** A whole message has arrived. The bytes are copied. */
  received(message: Uint8Array): void;
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
  addEventListener(type: string, listener: (event: any) => void): void;
  send(data: Uint8Array<ArrayBuffer>): void;
  close(): void;
}

/** A transport over WebSockets. `make` makes one; by default the global WebSocket. */
export function webSocketTransport(make: (address: string, protocol: string) => unknown = (address, protocol) => new WebSocket(address, protocol)): Transport {
  return {
    open(address, events) {
      const socket = make(address, 'reckoner') as WebSocketLike;
      socket.binaryType = 'arraybuffer';
      socket.addEventListener('open', () => events.opened());
      socket.addEventListener('close', () => events.closed());
      socket.addEventListener('error', () => {}); // a close event follows
      socket.addEventListener('message', (event: { data: ArrayBuffer }) => {
        if (event.data instanceof ArrayBuffer) events.received(new Uint8Array(event.data));
      });
      return {
        send(message) {
          if (socket.readyState !== 1) return false;
          socket.send(message);
          return true;
        },
        close: () => socket.close(),
      };
    },
  };
}
