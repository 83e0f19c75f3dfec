import { EXIT } from "../../base/errors.ts";
import type { AnyView } from "../../model/tables/view.ts";
import type { Call, Surroundings } from "../spec.ts";
import type { Desk } from "../with-store.ts";
import { Following, type Sight } from "./following.ts";
import { Lines } from "./ls-lines.ts";
import { LiveTable } from "./ls-live.ts";
import type { Wish } from "./ls-wish.ts";

/** Shows sights until nobody looks any more. */
interface Show<R> {
  /** @returns false once nobody reads */
  update(sight: Sight<R>): boolean;
  end(): void;
}

/** Between two looks, ms: four repaints a second are enough for people, and spare a slow line. */
const BEAT = 250;

/** Goes on showing a view as it changes: a table on a terminal, JSON lines on a pipe. Ends when the reader goes. */
export async function watch<R extends object>(
  call: Call,
  world: Surroundings,
  desk: Desk,
  view: AnyView<R>,
  wish: Wish,
): Promise<number> {
  const isLive = world.terminal.isOutput() && !call.flags.json;
  const following = new Following(desk, view, wish);
  await following.begin();
  const show: Show<R> = isLive ? new LiveTable(call, world, desk, view, wish) : new Lines(world, desk, view);
  try {
    for (;;) {
      if (!show.update(following.sight())) return EXIT.ok;
      await desk.clock.sleep(BEAT, desk.signal);
    }
  } finally {
    show.end();
    following.end();
  }
}
