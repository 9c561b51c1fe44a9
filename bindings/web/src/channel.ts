// SPDX-License-Identifier: MIT
// A WebRTC data channel beside a WebSocket (docs/WIRE.md, 7.1): over UDP, so that a lost packet delays nothing. The WebSocket
// stays open, and carries everything again when the channel ends.

/** What state travels over. */
export type Path = 'data-channel' | 'websocket';

/** RTCPeerConnection, or what has the same functions. Without the types of the DOM, which programs for Node.js do not have. */
export type PeerConnections = new () => {
  createDataChannel(label: string, options: { ordered: boolean; maxRetransmits: number }): unknown;
  createOffer(): Promise<unknown>;
  setLocalDescription(offer: any): Promise<void>;
  setRemoteDescription(answer: { type: 'answer'; sdp: string }): Promise<void>;
  close(): void;
};

/** What a channel needs of its WebSocket. */
export interface ChannelHost {
  /** Sends a text message over the WebSocket. */
  say(text: string): void;
  received(message: Uint8Array): void;
  /** The channel opens (true) or has ended. `reason`: one sentence. */
  moved(isOpen: boolean, reason: string): void;
}

/** Size of the largest datagram in the channel, bytes: as on the server. */
export const channelDatagramBytes = 600;

const label = 'reckoner';
const tickMs = 250;
// A server sends several times a second. Counted in ticks, because a hidden page or a laptop that slept has few of them.
const silentTicks = 8;
const openTicks = 40;
const firstWaitTicks = 40;
const mostWaitTicks = 1200;
const steadyTicks = 120; // a channel that was open for longer has worked

/** Offers a channel, and does so again some time after it has ended. */
export class DataChannel {
  private peer: RTCPeerConnection | null = null;
  private channel: RTCDataChannel | null = null;
  private isOpen = false;
  private waiting: Uint8Array<ArrayBuffer> | null = null; // the newest state, while an older one is not sent yet
  private ticks = 0; // since the last message; before that, since the offer; without a channel, since its end
  private openFor = 0; // ticks
  private wait = firstWaitTicks;
  private timer: ReturnType<typeof setInterval> | undefined;

  constructor(private readonly host: ChannelHost, private readonly make: PeerConnections) {}

  begin(): void {
    if (this.timer !== undefined) return;
    this.timer = setInterval(() => this.tick(), tickMs);
    void this.offer();
  }
  /** The WebSocket ends. */
  close(): void {
    clearInterval(this.timer);
    this.drop('the connection has ended');
  }

  /** A text message of the server. */
  hear(text: string): void {
    const end = text.indexOf('\n');
    const [word, body] = [text.slice(0, end), text.slice(end + 1)];
    const { peer } = this;
    if (!peer || this.isOpen) return;
    if (word === 'refused') this.drop(`the server has refused it: ${body}`);
    if (word === 'answer')
      peer.setRemoteDescription({ type: 'answer', sdp: body }).catch((error) => peer === this.peer && this.leave(`the browser refuses the server's answer: ${error.message}`));
  }

  /** Sends a message with state. False: it has to travel over the WebSocket. */
  send(message: Uint8Array<ArrayBuffer>): boolean {
    const { channel } = this;
    if (!this.isOpen || channel?.readyState !== 'open' || message.length > 1 + channelDatagramBytes) return false;
    // SCTP lets messages wait for its congestion window. State is worth sending only while it is new: so one waits here instead,
    // until a newer one takes its place.
    if (channel.bufferedAmount > 0) {
      this.waiting = message.slice();
      return true;
    }
    this.waiting = null;
    return this.put(channel, message);
  }

  private put(channel: RTCDataChannel, message: Uint8Array<ArrayBuffer>): boolean {
    try {
      channel.send(message);
      return true;
    } catch {
      return false; // it has just ended
    }
  }

  private async offer(): Promise<void> {
    let peer: RTCPeerConnection | null = null;
    try {
      this.peer = peer = new this.make() as RTCPeerConnection;
      this.ticks = 0;
      const channel = peer.createDataChannel(label, { ordered: false, maxRetransmits: 0 });
      this.channel = channel;
      channel.binaryType = 'arraybuffer';
      const isCurrent = () => channel === this.channel;
      channel.onopen = () => {
        if (!isCurrent()) return;
        this.isOpen = true;
        this.ticks = this.openFor = 0;
        this.host.moved(true, 'the data channel is open');
      };
      channel.onmessage = ({ data }) => {
        if (!isCurrent() || !(data instanceof ArrayBuffer)) return;
        this.ticks = 0;
        this.host.received(new Uint8Array(data));
      };
      channel.onbufferedamountlow = () => {
        const { waiting } = this;
        this.waiting = null;
        if (isCurrent() && waiting && channel.readyState === 'open') this.put(channel, waiting);
      };
      channel.onclose = () => isCurrent() && this.leave('the data channel was closed');
      channel.onerror = () => {}; // it is closed afterwards
      await peer.setLocalDescription(await peer.createOffer());
      // Without candidates: the server waits for the browser's checks.
      if (isCurrent()) this.host.say(`offer\n${peer.localDescription!.sdp}`);
    } catch (error) {
      if (peer === this.peer) this.drop(`the browser makes no data channel: ${error instanceof Error ? error.message : error}`);
    }
  }

  private tick(): void {
    ++this.ticks;
    if (!this.peer) {
      if (this.ticks >= this.wait) void this.offer();
      return;
    }
    if (this.isOpen && ++this.openFor === steadyTicks) this.wait = firstWaitTicks;
    if (this.isOpen && this.ticks >= silentTicks) this.leave('nothing arrives over the data channel');
    else if (!this.isOpen && this.ticks >= openTicks) this.leave('the data channel does not open, because UDP is blocked or the server is not reachable by it');
  }

  // Tells the server, which would otherwise go on to send over the channel.
  private leave(reason: string): void {
    this.drop(reason);
    this.host.say(`leave\n${reason}`);
  }

  private drop(reason: string): void {
    const { peer, isOpen } = this;
    this.peer = this.channel = this.waiting = null;
    this.isOpen = false;
    this.ticks = 0;
    if (!peer) return;
    if (this.openFor < steadyTicks) this.wait = Math.min(2 * this.wait, mostWaitTicks);
    this.openFor = 0;
    peer.close();
    if (isOpen) this.host.moved(false, reason);
  }
}
