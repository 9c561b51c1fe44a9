// SPDX-License-Identifier: MIT
// The page of the game: joins, moves its own body with the keys or a finger, and draws everybody.
import { connect } from '@reckoner/client';
import { EntityObjects } from '@reckoner/three';
import {
  AmbientLight, CapsuleGeometry, Color, DirectionalLight, GridHelper, Mesh, MeshLambertMaterial, PerspectiveCamera, Scene, WebGLRenderer,
} from 'three';
import { archetypes } from './archetypes.js';

const speed = 6; // m/s
const status = document.getElementById('status');
const renderer = new WebGLRenderer({ antialias: true });
document.body.append(renderer.domElement);
const scene = new Scene();
scene.background = new Color(0x20242c);
const sun = new DirectionalLight(0xffffff, 2);
sun.position.set(3, 8, 4);
scene.add(sun, new AmbientLight(0xffffff, 0.8), new GridHelper(60, 60, 0x556070, 0x39404c));
const camera = new PerspectiveCamera(55, 1, 0.1, 200);

const address = location.origin.replace(/^http/, 'ws');
const client = await connect(address, { archetypes }).catch((error) => {
  status.textContent = error.message;
  throw error;
});
const shape = new CapsuleGeometry(0.4, 1).translate(0, 0.9, 0);
const objects = new EntityObjects(client, scene, ({ entity }) =>
  new Mesh(shape, new MeshLambertMaterial({ color: new Color().setHSL(client.field(entity, 'hue') / 360, 0.7, 0.55) })));

let mine; // the body of this player, and where it is
let position = [0, 0, 0];
const continueFrom = ({ entity }) => {
  mine = entity;
  position = [...client.owned(entity).position];
};
client.on('given', continueFrom);
client.on('corrected', continueFrom);
client.on('revoked', () => (mine = undefined));
client.on('lost', ({ reason }) => (status.textContent = `Reconnecting: ${reason}`));
client.on('resumed', () => (status.textContent = ''));
client.on('closed', ({ reason }) => (status.textContent = reason));
client.on('message', ({ text }) => (status.textContent = text));
addEventListener('pagehide', ({ persisted }) => void (persisted || client.leave())); // a persisted page may come back

const held = new Set();
const finger = { x: 0, z: 0 }; // -1 to 1: from the middle of the page
addEventListener('keydown', ({ code }) => held.add(code));
addEventListener('keyup', ({ code }) => held.delete(code));
addEventListener('blur', () => held.clear());
addEventListener('pointerup', () => Object.assign(finger, { x: 0, z: 0 }));
addEventListener('pointermove', ({ buttons, clientX, clientY }) => {
  if (buttons) Object.assign(finger, { x: (2 * clientX) / innerWidth - 1, z: (2 * clientY) / innerHeight - 1 });
});
const key = (...codes) => (codes.some((code) => held.has(code)) ? 1 : 0);

let last = performance.now();
renderer.setAnimationLoop((now) => {
  const seconds = Math.min(0.1, Math.max(0, now - last) / 1000); // after a hidden tab, no leap
  last = now;
  objects.update(now);
  if (mine !== undefined) {
    const velocity = [speed * (key('KeyD', 'ArrowRight') - key('KeyA', 'ArrowLeft') + finger.x), 0,
      speed * (key('KeyS', 'ArrowDown') - key('KeyW', 'ArrowUp') + finger.z)];
    position = position.map((x, i) => x + velocity[i] * seconds);
    client.move(mine, { position, velocity });
  }
  renderer.setSize(innerWidth, innerHeight);
  camera.aspect = innerWidth / innerHeight;
  camera.updateProjectionMatrix();
  camera.position.set(position[0], 12, position[2] + 12);
  camera.lookAt(position[0], 0, position[2]);
  renderer.render(scene, camera);
});
Object.assign(window, { game: { client, objects } }); // for the console
