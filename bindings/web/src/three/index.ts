// SPDX-License-Identifier: MIT
// Entities of @reckoner/client as objects of three.js.
import type { Object3D } from 'three';

/** What is used of a client of @reckoner/client. */
export interface ShownClient {
  frame(nowMs?: number): { count: number; ids: Float64Array; positions: Float64Array; quaternions: Float32Array };
  name(entity: number): string | undefined;
  archetype(entity: number): string | undefined;
  on(name: 'despawned' | 'closed' | 'restarted', listener: (event: any) => void): () => void;
}

export interface NewEntity {
  entity: number;
  name: string;
  archetype: string;
}

export interface EntityObjectsOptions {
  /** The origin of the scene in the world, m: with it, large worlds keep their precision in 32 bits. May be moved. */
  origin?: { x: number; y: number; z: number };
  /** Frees what `create` has made, such as geometries and materials. */
  dispose?: (object: Object3D, entity: number) => void;
}

/** Keeps an object for each visible entity in a parent, such as the scene, at the pose that the client shows. Reckoner and
 * three.js have the same coordinates: right-handed, m, quaternions x, y, z, w. Which axis is up, the game decides. */
export class EntityObjects {
  private readonly objects = new Map<number, Object3D>();
  private readonly seen = new Map<number, number>(); // the picture in which an entity was visible last
  private picture = 0;
  private readonly remove: (() => void)[];

  /** `create` makes the object of a new entity; null: it has none. */
  constructor(private readonly client: ShownClient, private readonly parent: Object3D,
    private readonly create: (entity: NewEntity) => Object3D | null, private readonly options: EntityObjectsOptions = {}) {
    this.remove = [
      client.on('despawned', ({ entity }: { entity: number }) => this.drop(entity)),
      client.on('restarted', () => this.clear()),
      client.on('closed', () => this.clear()),
    ];
  }

  /** The object of an entity; undefined while it has none. */
  get(entity: number): Object3D | undefined {
    return this.objects.get(entity);
  }
  /** The entity of an object or of one of its descendants, for example that of a ray's hit. */
  entityOf(object: Object3D | null): number | undefined {
    for (let one = object; one; one = one.parent) {
      const entity = one.userData.entity;
      if (typeof entity === 'number' && this.objects.get(entity) === one) return entity;
    }
    return undefined;
  }

  /** Moves the objects to the poses at a time, ms: that of requestAnimationFrame. Call it before rendering. */
  update(nowMs?: number): void {
    const { count, ids, positions, quaternions } = this.client.frame(nowMs);
    const { origin } = this.options;
    ++this.picture;
    for (let i = 0; i < count; ++i) {
      const entity = ids[i]!;
      const object = this.objects.get(entity) ?? this.add(entity);
      this.seen.set(entity, this.picture);
      if (!object) continue;
      object.visible = true;
      object.position.set(positions[3 * i]! - (origin?.x ?? 0), positions[3 * i + 1]! - (origin?.y ?? 0), positions[3 * i + 2]! - (origin?.z ?? 0));
      object.quaternion.set(quaternions[4 * i]!, quaternions[4 * i + 1]!, quaternions[4 * i + 2]!, quaternions[4 * i + 3]!);
    }
    // An entity that is not shown now may be shown again.
    for (const [entity, object] of this.objects) if (this.seen.get(entity) !== this.picture) object.visible = false;
  }

  private add(entity: number): Object3D | undefined {
    if (this.seen.has(entity)) return undefined; // it has no object
    const object = this.create({ entity, name: this.client.name(entity) ?? '', archetype: this.client.archetype(entity) ?? '' });
    if (!object) return undefined;
    object.userData.entity = entity;
    this.objects.set(entity, object);
    this.parent.add(object);
    return object;
  }
  private drop(entity: number): void {
    this.seen.delete(entity);
    const object = this.objects.get(entity);
    if (!object) return;
    this.objects.delete(entity);
    this.parent.remove(object);
    this.options.dispose?.(object, entity);
  }
  /** Removes all objects. */
  clear(): void {
    for (const entity of [...this.objects.keys()]) this.drop(entity);
    this.seen.clear();
  }
  /** Removes all objects, and leaves the client. */
  dispose(): void {
    for (const remove of this.remove) remove();
    this.clear();
  }
}
