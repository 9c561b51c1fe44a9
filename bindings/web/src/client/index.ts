// SPDX-License-Identifier: MIT
export { Client, connect } from './client.js';
export type { Body, ClientEvents, Closed, ConnectOptions, Entity, Frame, Prediction, Token } from './client.js';
export type { BlendCurve, ClientStats, Delivery, Mode, ResultCode, Status, VelocitySource } from '../generated.js';
export { type ModuleSource, ReckonerError } from '../native.js';
export type { Path, PeerConnections } from '../channel.js';
export { type Connection, type ConnectionEvents, type Transport, type WebSocketOptions, webSocketTransport } from '../transport.js';
export { Message } from '../values.js';
export type { ArchetypeOptions, EntityId, FieldOptions, FieldValue, Payload, SendOptions, State, Vector } from '../values.js';
