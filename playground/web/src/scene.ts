// SPDX-License-Identifier: MIT
// Draws a run: the truth as solid bodies, and each method as coloured ghosts.
import {
  AmbientLight, BufferAttribute, BufferGeometry, Color, ConeGeometry, DirectionalLight, DoubleSide,
  InstancedMesh, Line, LineBasicMaterial, Matrix4, MeshLambertMaterial, OrthographicCamera, PerspectiveCamera,
  Quaternion, Scene, Vector3, WebGLRenderer, type Camera,
} from 'three';
import { Ground } from './ground.ts';
import { poseFloats } from './module.ts';
import { colourOf, truthColour, variable } from './palette.ts';
import type { Run } from './run.ts';

const trailSeconds = 1.6;
const trailPoints = 64;

/** A body that shows its heading: +x is forward, +z is up, as in the library. */
function bodyGeometry(): BufferGeometry {
  const geometry = new ConeGeometry(0.42, 1.3, 5, 1);
  geometry.rotateZ(-Math.PI / 2);
  return geometry;
}

interface Layer {
  method: number; // -1: the truth
  name: string;
  mesh: InstancedMesh;
  trail: Line;
}

/** What one viewport shows. */
export interface Picture {
  shows(method: number, name: string): boolean;
  /** The colour of a method; the default is its own. */
  colour?: (method: number, name: string) => string;
  /** Draws only this entity. */
  entity?: number;
}

export class Stage {
  readonly canvas: HTMLCanvasElement;
  private readonly renderer: WebGLRenderer;
  private readonly scene = new Scene();
  private readonly eye = new PerspectiveCamera(45, 1, 0.05, 20000);
  private readonly top = new OrthographicCamera(-1, 1, 1, -1, -10000, 10000);
  private readonly ground = new Ground();
  private layers: Layer[] = [];
  private run: Run | null = null;
  private size = 1; // size of a drawn body, m
  private extent = 10; // half the width of the motion, m
  private readonly middle = new Vector3();
  private readonly target = new Vector3();
  private turn = -0.9;
  private tilt = 0.65;
  private zoom = 1;
  /** Holds the camera still. Null: it follows an entity, or shows the whole motion. */
  fixed: { at: Vector3; reach_m: number } | null = null;
  flat = false;
  follow = true;
  trails = true;
  followed = 0;

  private readonly pose = new Float64Array(poseFloats);
  private readonly matrix = new Matrix4();
  private readonly at = new Vector3();
  private readonly rotation = new Quaternion();
  private readonly scale = new Vector3();

  constructor(canvas: HTMLCanvasElement) {
    this.canvas = canvas;
    this.renderer = new WebGLRenderer({ canvas, antialias: true, powerPreference: 'high-performance' });
    this.renderer.autoClear = false;
    this.eye.up.set(0, 0, 1);
    this.top.up.set(0, 1, 0);
    const sun = new DirectionalLight(0xffffff, 1.6);
    sun.position.set(0.4, -0.8, 1.5);
    this.scene.add(new AmbientLight(0xffffff, 1.9), sun, this.ground.mesh);
    this.listen();
  }

  private listen(): void {
    const pointers = new Map<number, [number, number]>();
    this.canvas.addEventListener('pointerdown', (event) => {
      this.canvas.setPointerCapture(event.pointerId);
      pointers.set(event.pointerId, [event.clientX, event.clientY]);
    });
    this.canvas.addEventListener('pointermove', (event) => {
      const before = pointers.get(event.pointerId);
      if (!before) return;
      if (pointers.size === 1) {
        this.turn -= (event.clientX - before[0]) * 0.008;
        this.tilt = Math.min(1.5, Math.max(0.05, this.tilt + (event.clientY - before[1]) * 0.006));
      } else {
        const other = [...pointers].find(([id]) => id !== event.pointerId)![1];
        const was = Math.hypot(before[0] - other[0], before[1] - other[1]);
        const is = Math.hypot(event.clientX - other[0], event.clientY - other[1]);
        if (was > 0 && is > 0) this.zoomBy(was / is);
      }
      pointers.set(event.pointerId, [event.clientX, event.clientY]);
    });
    for (const name of ['pointerup', 'pointercancel'] as const) {
      this.canvas.addEventListener(name, (event) => pointers.delete(event.pointerId));
    }
    this.canvas.addEventListener('wheel', (event) => {
      event.preventDefault();
      this.zoomBy(Math.exp(event.deltaY * 0.0012));
    }, { passive: false });
    this.canvas.addEventListener('keydown', (event) => {
      const turns: Record<string, () => void> = {
        '+': () => this.zoomBy(0.85), '-': () => this.zoomBy(1.18),
        a: () => (this.turn -= 0.1), d: () => (this.turn += 0.1),
        w: () => (this.tilt = Math.min(1.5, this.tilt + 0.08)), s: () => (this.tilt = Math.max(0.05, this.tilt - 0.08)),
      };
      const action = turns[event.key];
      if (!action) return;
      action();
      event.preventDefault();
    });
  }

  /** The side of a square of the ground, m. */
  get square_m(): number {
    return this.ground.spacing_m;
  }
  /** The size of a drawn body, m. */
  get size_m(): number {
    return this.size;
  }
  get view(): { turn: number; tilt: number; zoom: number } {
    return { turn: this.turn, tilt: this.tilt, zoom: this.zoom };
  }
  look(turn: number, tilt: number, zoom: number): void {
    this.turn = turn;
    this.tilt = Math.min(1.5, Math.max(0.05, tilt));
    this.zoom = 1;
    this.zoomBy(zoom);
  }

  zoomBy(factor: number): void {
    this.zoom = Math.min(30, Math.max(0.05, this.zoom * factor));
  }

  show(run: Run): void {
    for (const layer of this.layers) {
      layer.mesh.removeFromParent();
      layer.trail.removeFromParent();
      layer.mesh.geometry.dispose();
      layer.mesh.dispose();
      layer.trail.geometry.dispose();
    }
    this.run = run;
    this.measure(run);
    const geometry = bodyGeometry();
    this.layers = [-1, ...run.methods.keys()].map((method) => {
      const truth = method < 0;
      const name = truth ? 'truth' : run.methods[method]!;
      const material = new MeshLambertMaterial({
        transparent: !truth, opacity: truth ? 1 : 0.55, depthWrite: truth, side: DoubleSide, flatShading: true,
      });
      const mesh = new InstancedMesh(geometry, material, run.shape.entities);
      mesh.frustumCulled = false;
      mesh.renderOrder = truth ? 0 : name === 'reckoner' ? 2 : 1;
      const line = new BufferGeometry();
      line.setAttribute('position', new BufferAttribute(new Float32Array(trailPoints * 3), 3));
      const trail = new Line(line, new LineBasicMaterial({ transparent: true, opacity: truth ? 0.75 : 0.9 }));
      trail.frustumCulled = false;
      this.scene.add(mesh, trail);
      return { method, name, mesh, trail };
    });
    this.recolour();
    this.followed = Math.max(0, Math.min(this.followed, run.shape.entities - 1));
    this.centre(0);
  }

  /** Finds how large the motion is, so that any recording fills the view. */
  private measure(run: Run): void {
    const truth = run.track(-1);
    const low = [Infinity, Infinity, Infinity];
    const high = [-Infinity, -Infinity, -Infinity];
    const steps: number[] = [];
    const row = run.shape.entities * poseFloats;
    for (let i = 0; i < truth.length; i += poseFloats) {
      if (Number.isNaN(truth[i]!)) continue;
      for (let k = 0; k < 3; ++k) {
        low[k] = Math.min(low[k]!, truth[i + k]!);
        high[k] = Math.max(high[k]!, truth[i + k]!);
      }
      if (i >= row && !Number.isNaN(truth[i - row]!)) {
        steps.push(Math.hypot(truth[i]! - truth[i - row]!, truth[i + 1]! - truth[i - row + 1]!, truth[i + 2]! - truth[i - row + 2]!));
      }
    }
    if (low[0]! > high[0]!) {  // nothing is shown at all
      low.fill(0);
      high.fill(0);
    }
    steps.sort((a, b) => a - b);  // of a high quantile, because of rests; not of the mean, because of teleports
    const speed = steps.length > 0 ? steps[Math.floor(0.8 * steps.length)]! * run.shape.frame_rate_hz : 1;
    this.extent = Math.max(0.05, 0.5 * Math.max(high[0]! - low[0]!, high[1]! - low[1]!, high[2]! - low[2]!));
    this.middle.set((low[0]! + high[0]!) / 2, (low[1]! + high[1]!) / 2, (low[2]! + high[2]!) / 2);
    this.size = Math.min(Math.max(0.14 * speed, 0.004 * this.extent), 0.25 * this.extent);
    this.ground.height_m = low[2]! - this.size * 0.5;
  }

  recolour(picture?: Picture): void {
    const background = new Color(variable('--scene'));
    this.renderer.setClearColor(background);
    for (const layer of this.layers) {
      const own = layer.method < 0 ? truthColour() : colourOf(layer.name);
      const colour = picture?.colour && layer.method >= 0 ? picture.colour(layer.method, layer.name) : own;
      (layer.mesh.material as MeshLambertMaterial).color.set(colour);
      (layer.trail.material as LineBasicMaterial).color.set(colour);
    }
    this.ground.recolour();
  }

  private centre(time_s: number): void {
    if (this.fixed) this.target.copy(this.fixed.at);
    else if (this.follow && this.run?.pose(-1, this.followed, time_s, this.pose)) {
      this.target.set(this.pose[0]!, this.pose[1]!, this.pose[2]!);
    } else if (!this.follow) {
      this.target.copy(this.middle);
    }
  }

  private place(time_s: number, picture: Picture): void {
    const run = this.run!;
    for (const layer of this.layers) {
      const visible = picture.shows(layer.method, layer.name);
      layer.mesh.visible = visible;
      layer.trail.visible = visible && this.trails;
      if (!visible) continue;
      const grow = layer.method < 0 ? 0.9 : 1;
      let count = 0;
      for (let entity = 0; entity < run.shape.entities; ++entity) {
        if (picture.entity !== undefined && entity !== picture.entity) continue;
        if (!run.pose(layer.method, entity, time_s, this.pose)) continue;
        this.at.set(this.pose[0]!, this.pose[1]!, this.pose[2]!);
        this.rotation.set(this.pose[4]!, this.pose[5]!, this.pose[6]!, this.pose[3]!).normalize();
        this.scale.setScalar(this.size * grow);
        layer.mesh.setMatrixAt(count++, this.matrix.compose(this.at, this.rotation, this.scale));
      }
      layer.mesh.count = count;
      layer.mesh.instanceMatrix.needsUpdate = true;
      if (layer.trail.visible) this.drawTrail(layer, time_s);
    }
  }

  private drawTrail(layer: Layer, time_s: number): void {
    const positions = layer.trail.geometry.getAttribute('position') as BufferAttribute;
    let count = 0;
    for (let i = 0; i < trailPoints; ++i) {
      const then = time_s - trailSeconds * (1 - i / (trailPoints - 1));
      if (then < 0 || !this.run!.pose(layer.method, this.followed, then, this.pose)) continue;
      positions.setXYZ(count++, this.pose[0]!, this.pose[1]!, this.pose[2]!);
    }
    layer.trail.geometry.setDrawRange(0, count);
    positions.needsUpdate = true;
  }

  /** About half of what the camera sees, m. */
  private reach(): number {
    if (this.fixed) return this.fixed.reach_m;
    return (this.follow ? Math.min(this.extent * 1.2, this.size * 4) : this.extent * 1.15) * this.zoom;
  }

  private camera(width: number, height: number): Camera {
    const reach = this.reach();
    if (this.flat) {
      const tall = height < width ? reach : (reach * height) / width;
      const wide = (tall * width) / height;
      Object.assign(this.top, { left: -wide, right: wide, top: tall, bottom: -tall });
      this.top.position.set(this.target.x, this.target.y, this.target.z + 100);
      this.top.lookAt(this.target);
      this.top.updateProjectionMatrix();
      return this.top;
    }
    const away = (reach * 2.3) / Math.min(1, width / height);
    this.eye.aspect = width / height;
    this.eye.near = away / 200;
    this.eye.far = away * 60 + this.extent * 10;
    this.eye.position.set(
      this.target.x + away * Math.cos(this.tilt) * Math.sin(this.turn),
      this.target.y - away * Math.cos(this.tilt) * Math.cos(this.turn),
      this.target.z + away * Math.sin(this.tilt),
    );
    this.eye.lookAt(this.target);
    this.eye.updateProjectionMatrix();
    return this.eye;
  }

  /** Draws one picture, or several side by side. */
  draw(time_s: number, ...pictures: Picture[]): void {
    const width = this.canvas.clientWidth;
    const height = this.canvas.clientHeight;
    if (!this.run || width === 0 || height === 0) return;
    const ratio = Math.min(devicePixelRatio, 2);
    if (this.renderer.getPixelRatio() !== ratio) this.renderer.setPixelRatio(ratio);
    if (this.canvas.width !== Math.floor(width * ratio) || this.canvas.height !== Math.floor(height * ratio)) {
      this.renderer.setSize(width, height, false);
    }
    this.centre(time_s);
    this.ground.place(this.target, this.reach());
    const part = width / pictures.length;
    pictures.forEach((picture, i) => {
      this.place(time_s, picture);
      if (picture.colour) this.recolour(picture);
      this.renderer.setViewport(i * part, 0, part, height);
      this.renderer.setScissor(i * part, 0, part, height);
      this.renderer.setScissorTest(true);
      this.renderer.clear();
      this.renderer.render(this.scene, this.camera(part, height));
    });
  }
}
