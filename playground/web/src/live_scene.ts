// SPDX-License-Identifier: MIT
// Draws what a client shows: solid bodies, the motions behind them as ghosts, and a line from each body to its motion.
import {
  AmbientLight, BufferAttribute, BufferGeometry, Color, ConeGeometry, DirectionalLight, DoubleSide, DynamicDrawUsage,
  GridHelper, Group, InstancedMesh, LineBasicMaterial, LineSegments, Matrix4, MeshLambertMaterial, PerspectiveCamera,
  Quaternion, Scene, Vector3, WebGLRenderer,
} from 'three';
import { entityNumbers } from './live_client.ts';
import { colourOf, truthColour, variable } from './palette.ts';

const mostEntities = 4096;

export class LiveStage {
  private readonly renderer: WebGLRenderer;
  private readonly scene = new Scene();
  private readonly eye = new PerspectiveCamera(45, 1, 0.05, 20000);
  private readonly ground = new Group();
  private readonly shown: InstancedMesh;
  private readonly motions: InstancedMesh;
  private readonly blends: LineSegments;
  private readonly middle = new Vector3();
  private readonly target = new Vector3();
  private extent = 0;
  private turn = -0.9;
  private tilt = 0.65;
  private zoom = 1;
  /** Id of the entity that the camera follows; 0: the middle of all. */
  followed = 0;
  ghosts = true;

  private readonly matrix = new Matrix4();
  private readonly at = new Vector3();
  private readonly rotation = new Quaternion();
  private readonly scale = new Vector3();

  constructor(private readonly canvas: HTMLCanvasElement) {
    this.renderer = new WebGLRenderer({ canvas, antialias: true });
    this.eye.up.set(0, 0, 1);
    const sun = new DirectionalLight(0xffffff, 1.6);
    sun.position.set(0.4, -0.8, 1.5);
    const body = new ConeGeometry(0.42, 1.3, 5, 1);
    body.rotateZ(-Math.PI / 2); // +x is forward, +z is up, as in the library
    const bodies = (opacity: number) => {
      const material = new MeshLambertMaterial({ transparent: opacity < 1, opacity, depthWrite: opacity === 1, side: DoubleSide, flatShading: true });
      const mesh = new InstancedMesh(body, material, mostEntities);
      mesh.instanceMatrix.setUsage(DynamicDrawUsage);
      mesh.frustumCulled = false;
      return mesh;
    };
    this.shown = bodies(1);
    this.motions = bodies(0.4);
    const lines = new BufferGeometry();
    lines.setAttribute('position', new BufferAttribute(new Float32Array(mostEntities * 6), 3).setUsage(DynamicDrawUsage));
    this.blends = new LineSegments(lines, new LineBasicMaterial());
    this.blends.frustumCulled = false;
    this.scene.add(new AmbientLight(0xffffff, 1.9), sun, this.ground, this.shown, this.motions, this.blends);
    this.listen();
    this.recolour();
  }

  recolour(): void {
    this.renderer.setClearColor(new Color(variable('--scene')));
    (this.shown.material as MeshLambertMaterial).color.set(colourOf('reckoner'));
    (this.motions.material as MeshLambertMaterial).color.set(truthColour());
    (this.blends.material as LineBasicMaterial).color.set(variable('--bad'));
    this.extent = 0; // makes a new grid
  }

  private listen(): void {
    let last: [number, number] | null = null;
    this.canvas.addEventListener('pointerdown', (event) => {
      this.canvas.setPointerCapture(event.pointerId);
      last = [event.clientX, event.clientY];
    });
    this.canvas.addEventListener('pointermove', (event) => {
      if (!last) return;
      this.turn -= (event.clientX - last[0]) * 0.008;
      this.tilt = Math.min(1.5, Math.max(0.05, this.tilt + (event.clientY - last[1]) * 0.006));
      last = [event.clientX, event.clientY];
    });
    for (const name of ['pointerup', 'pointercancel'] as const) this.canvas.addEventListener(name, () => (last = null));
    this.canvas.addEventListener('wheel', (event) => {
      event.preventDefault();
      this.zoom = Math.min(30, Math.max(0.02, this.zoom * Math.exp(event.deltaY * 0.0012)));
    }, { passive: false });
    this.canvas.addEventListener('keydown', (event) => {
      const actions: Record<string, () => void> = {
        '+': () => (this.zoom *= 0.85), '-': () => (this.zoom *= 1.18),
        a: () => (this.turn -= 0.1), d: () => (this.turn += 0.1),
        w: () => (this.tilt = Math.min(1.5, this.tilt + 0.08)), s: () => (this.tilt = Math.max(0.05, this.tilt - 0.08)),
      };
      const action = actions[event.key];
      if (!action) return;
      action();
      event.preventDefault();
    });
  }

  /** Finds how large the world is. It only grows, so that the picture stays calm. */
  private measure(entities: Float64Array): void {
    const low = [Infinity, Infinity, Infinity];
    const high = [-Infinity, -Infinity, -Infinity];
    for (let i = 0; i < entities.length; i += entityNumbers) {
      for (let k = 0; k < 3; ++k) {
        low[k] = Math.min(low[k]!, entities[i + 1 + k]!);
        high[k] = Math.max(high[k]!, entities[i + 1 + k]!);
      }
    }
    if (low[0] === Infinity) return;
    const extent = Math.max(2, 0.5 * Math.max(high[0]! - low[0]!, high[1]! - low[1]!, high[2]! - low[2]!));
    if (extent <= this.extent * 1.25) return;
    this.extent = extent;
    this.middle.set((low[0]! + high[0]!) / 2, (low[1]! + high[1]!) / 2, (low[2]! + high[2]!) / 2);
    this.ground.clear();
    const spacing = 10 ** Math.round(Math.log10(extent / 6));
    const cells = 2 * Math.ceil((extent * 2) / spacing);
    const grid = new GridHelper(cells * spacing, cells);
    grid.rotateX(Math.PI / 2);
    grid.position.set(Math.round(this.middle.x / spacing) * spacing, Math.round(this.middle.y / spacing) * spacing, low[2]! - 1);
    const material = grid.material as LineBasicMaterial;
    material.vertexColors = false;
    material.color.set(variable('--soft'));
    material.transparent = true;
    material.opacity = 0.3;
    this.ground.add(grid);
  }

  draw(entities: Float64Array): void {
    const width = this.canvas.clientWidth;
    const height = this.canvas.clientHeight;
    if (width === 0 || height === 0) return;
    const ratio = Math.min(devicePixelRatio, 2);
    if (this.renderer.getPixelRatio() !== ratio) this.renderer.setPixelRatio(ratio);
    if (this.canvas.width !== Math.floor(width * ratio) || this.canvas.height !== Math.floor(height * ratio)) this.renderer.setSize(width, height, false);
    this.measure(entities);
    const size = Math.min(4, Math.max(1, this.extent * 0.03));
    const count = Math.min(mostEntities, entities.length / entityNumbers);
    const lines = this.blends.geometry.getAttribute('position') as BufferAttribute;
    this.target.copy(this.middle);
    for (let i = 0; i < count; ++i) {
      const e = i * entityNumbers;
      for (const [mesh, from] of [[this.shown, e + 1], [this.motions, e + 8]] as const) {
        this.at.set(entities[from]!, entities[from + 1]!, entities[from + 2]!);
        this.rotation.set(entities[from + 4]!, entities[from + 5]!, entities[from + 6]!, entities[from + 3]!);
        mesh.setMatrixAt(i, this.matrix.compose(this.at, this.rotation, this.scale.setScalar(size)));
        lines.setXYZ(2 * i + (mesh === this.shown ? 0 : 1), this.at.x, this.at.y, this.at.z);
      }
      if (entities[e] === this.followed) this.target.set(entities[e + 1]!, entities[e + 2]!, entities[e + 3]!);
    }
    for (const mesh of [this.shown, this.motions]) {
      mesh.count = count;
      mesh.instanceMatrix.needsUpdate = true;
    }
    this.motions.visible = this.ghosts;
    this.blends.visible = this.ghosts;
    this.blends.geometry.setDrawRange(0, 2 * count);
    lines.needsUpdate = true;
    const away = (this.followed ? Math.min(this.extent, 24) : this.extent) * 2.1 * this.zoom;
    this.eye.aspect = width / height;
    this.eye.near = Math.max(0.01, away / 200);
    this.eye.far = away * 60 + this.extent * 10;
    this.eye.position.set(
      this.target.x + away * Math.cos(this.tilt) * Math.sin(this.turn),
      this.target.y - away * Math.cos(this.tilt) * Math.cos(this.turn),
      this.target.z + away * Math.sin(this.tilt));
    this.eye.lookAt(this.target);
    this.eye.updateProjectionMatrix();
    this.renderer.render(this.scene, this.eye);
  }
}
