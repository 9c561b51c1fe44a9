// SPDX-License-Identifier: MIT
// A ground without an end: a plane below the camera's target, on which a shader draws a grid that stays in the world.
import { Color, Mesh, PlaneGeometry, ShaderMaterial, Vector2, type Vector3 } from 'three';
import { variable } from './palette.ts';

const vertexShader = `
  uniform float reach;
  varying vec2 place; // from the camera's target, m
  void main() {
    place = position.xy * reach * 40.0;
    gl_Position = projectionMatrix * modelViewMatrix * vec4(place, 0.0, 1.0);
  }`;
const fragmentShader = `
  uniform float reach;
  uniform float spacing;
  uniform vec2 offset; // of the target in the pattern, which repeats after ten squares, m
  uniform vec3 colour;
  varying vec2 place;
  // Lines that are always a pixel wide, and fade where they would be closer than a few pixels.
  float lines(vec2 at, float wide) {
    vec2 pixel = fwidth(at);
    vec2 far = abs(fract(at - 0.5) - 0.5) / pixel;
    vec2 line = (1.0 - min(far / wide, 1.0)) * (1.0 - smoothstep(0.15, 0.5, pixel));
    return max(line.x, line.y);
  }
  void main() {
    vec2 at = (place + offset) / spacing;
    vec2 pixel = fwidth(at);
    vec2 tile = floor(at);
    float dark = mod(tile.x + tile.y, 2.0) * (1.0 - smoothstep(0.2, 0.7, max(pixel.x, pixel.y)));
    float strength = 0.10 * dark + max(0.30 * lines(at, 1.2), 0.55 * lines(at / 5.0, 1.6));
    gl_FragColor = vec4(colour, strength * (1.0 - smoothstep(6.0, 36.0, length(place) / reach)));
    #include <colorspace_fragment>
  }`;

/** The next of 1, 2, 5, 10, 20, ... that is at least `length`. */
export function niceLength(length: number): number {
  const ten = 10 ** Math.floor(Math.log10(Math.max(1e-6, length)));
  return ten * ([1, 2, 5].find((step) => step * ten >= length * 0.999) ?? 10);
}

export class Ground {
  private readonly uniforms = {
    reach: { value: 1 }, spacing: { value: 1 }, offset: { value: new Vector2() }, colour: { value: new Color() },
  };
  readonly mesh = new Mesh(new PlaneGeometry(2, 2), new ShaderMaterial({
    uniforms: this.uniforms, vertexShader, fragmentShader, transparent: true, depthWrite: false,
  }));
  height_m = 0;

  constructor() {
    this.mesh.frustumCulled = false;
    this.mesh.renderOrder = -1;
  }

  /** The side of a square, m. */
  get spacing_m(): number {
    return this.uniforms.spacing.value;
  }

  recolour(): void {
    this.uniforms.colour.value.set(variable('--soft'));
  }

  /** Puts the ground below `target`. `reach` is about half of what the camera sees, m. */
  place(target: Vector3, reach: number): void {
    const spacing = niceLength(reach / 3);
    this.uniforms.reach.value = reach;
    this.uniforms.spacing.value = spacing;
    const repeat = 10 * spacing;
    this.uniforms.offset.value.set(target.x - Math.floor(target.x / repeat) * repeat, target.y - Math.floor(target.y / repeat) * repeat);
    this.mesh.position.set(target.x, target.y, this.height_m);
  }
}
