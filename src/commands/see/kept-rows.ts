import { passes } from "../../model/filter.ts";
import type { NamedQueue, Picture, Room } from "../../model/picture.ts";
import { emptyLines } from "../../model/tables/empty-lines.ts";
import { sceneOf } from "../../model/tables/scene.ts";
import type { AnyView, PictureView, QueueView, Scene } from "../../model/tables/view.ts";
import type { QueueKind } from "../../protocol/keys.ts";
import type { Wish } from "./ls-wish.ts";

/** The parts of a picture; each is the same object as long as nothing in it changed. */
type Part = Exclude<keyof Picture, "revision">;
/** What each room is in a picture. */
const PART_OF: Readonly<Record<Room, Part>> = {
  ...{ locks: "queues", resources: "queues", resourceConfigs: "resources", groups: "groups" },
  ...{ drains: "drains", hosts: "hosts", histories: "histories", audits: "audit" },
  ...{ schedules: "schedules", dues: "dues", runnings: "executions", workers: "workers" },
} as const;
/** Those that the rows of one queue are made of, beside the queue. */
const AROUND = ["resources", "groups", "drains"] as const;

/**
 * The rows of a view of one picture after the other. What did not change costs next to nothing: the same array when nothing
 * did, and otherwise the same rows of every queue that did not.
 */
export class KeptRows<R> {
  readonly #view: AnyView<R>;
  readonly #wish: Wish;
  /** What its rows are made of. Locks that are free have their rows from histories, whatever its rooms are. */
  readonly #parts: readonly Part[];
  #known: { picture: Picture; scene: Scene; second: number; rows: readonly R[] } | undefined;
  #whole: { all: readonly R[]; rows: readonly R[] } | undefined;
  /** Rows of queues; good as long as what is around them stays. */
  #byQueue = new WeakMap<NamedQueue, readonly R[]>();

  constructor(view: AnyView<R>, wish: Wish) {
    this.#view = view;
    this.#wish = wish;
    const rooms = new Set(view.rooms.map((room) => PART_OF[room]));
    this.#parts = [...rooms, "strange", ...(view.of === "queue" ? (["histories"] as const) : [])];
  }

  /** @param wall  wall clock, ms since the epoch */
  of(picture: Picture, wall: number): { rows: readonly R[]; scene: Scene } {
    const scene = sceneOf(picture, wall);
    const second = Math.floor(wall / 1000);
    const before = this.#known;
    const isSame = before !== undefined && before.scene.drains.length === scene.drains.length;
    const isTimed = this.#view.of === "picture" && this.#view.isTimed === true && before?.second !== second;
    if (isSame && !isTimed && this.#parts.every((part) => before.picture[part] === picture[part]))
      return before;
    if (!isSame || AROUND.some((part) => before.picture[part] !== picture[part]))
      this.#byQueue = new WeakMap();
    const rows = this.#rows(picture, scene);
    this.#known = { picture, scene, second, rows };
    return { rows, scene };
  }

  #rows(picture: Picture, scene: Scene): readonly R[] {
    const view = this.#view;
    if (view.of === "picture") return this.#ofPicture(view, picture, scene);
    const rows = [...picture.queues.values()].flatMap((queue) => this.#ofQueue(view, queue, scene));
    return view.hasEmpty ? [...rows, ...this.#passing(this.#empty(picture, scene))] : rows;
  }

  /** A view that gives out the same array has the same rows, however many there are. */
  #ofPicture(view: PictureView<R>, picture: Picture, scene: Scene): readonly R[] {
    const all = view.rows(picture, scene);
    if (this.#whole?.all !== all) this.#whole = { all, rows: this.#passing(all) };
    return this.#whole.rows;
  }

  #ofQueue(view: QueueView<R>, queue: NamedQueue, scene: Scene): readonly R[] {
    const known = this.#byQueue.get(queue);
    if (known !== undefined) return known;
    const rows = this.#passing(view.rows(queue, scene));
    this.#byQueue.set(queue, rows);
    return rows;
  }

  #passing(rows: readonly R[]): readonly R[] {
    return rows.filter((row) => passes(this.#view, this.#wish.filter, row));
  }

  /** Only views whose rows are lines have such for queues in which nobody stands. */
  #empty(picture: Picture, scene: Scene): readonly R[] {
    const known = { lock: picture.histories.keys(), resource: picture.resources.keys() };
    const namesOf = (kind: QueueKind) =>
      new Set([...picture.queues.values()].flatMap((queue) => (queue.kind === kind ? [queue.name] : [])));
    const kinds = (["lock", "resource"] as const).filter((kind) => this.#view.rooms.includes(`${kind}s`));
    return kinds.flatMap((kind) =>
      emptyLines(kind, namesOf(kind), this.#wish.all ? known[kind] : [], scene),
    ) as R[];
  }
}
