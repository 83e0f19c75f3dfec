import { EXIT } from "../../base/errors.ts";
import { clean } from "../../base/text.ts";
import { passes } from "../../model/filter.ts";
import { VIEWS, type ViewId } from "../../model/tables/index.ts";
import type { AnyView, Scene } from "../../model/tables/view.ts";
import type { Call, Execute, Surroundings } from "../spec.ts";
import { withStore } from "../with-store.ts";
import { gridLines } from "./grid.ts";
import { printJson } from "./ls-json.ts";
import { readRows } from "./ls-rows.ts";
import { columnsHelp, columnsOf, ordered, type Wish, wantsColumnsHelp, wishOf } from "./ls-wish.ts";
import { type Look, lookOf, painted } from "./paint.ts";

export const execute: Execute = async (call, world) => {
  const id = (call.args[0] ?? "overview") as ViewId;
  if (!wantsColumnsHelp(call)) return await VIEWS[id]((view) => listing(view))(call, world);
  world.out(VIEWS[id](columnsHelp));
  return EXIT.ok;
};

function listing<R extends object>(view: AnyView<R>): Execute {
  return withStore(async (call, world, desk) => {
    const wish = wishOf(call, view);
    if (call.flags.watch) return await (await import("./ls-watch.ts")).watch(call, world, desk, view, wish);
    const reading = await readRows(desk, view, wish.all);
    if (call.flags.json) await printJson(world, desk, view, reading, wish);
    else await printTable(call, world, view, reading, wish);
    return EXIT.ok;
  });
}

async function printTable<R>(
  call: Call,
  world: Surroundings,
  view: AnyView<R>,
  { rows: all, scene }: Awaited<ReturnType<typeof readRows<R>>>,
  wish: Wish,
): Promise<void> {
  const look = lookOf(world, { ascii: call.flags.ascii === true, wide: call.flags.wide === true });
  const rows: R[] = [];
  const others = new Set<string>();
  for await (const row of all) {
    if (passes(view, wish.filter, row)) rows.push(row);
    else for (const state of view.facets(row).states) others.add(state);
  }
  if (rows.length > 0) {
    const lines = gridLines(
      { columns: view.columns, rows: ordered(view, rows, wish), wall: scene.wall },
      look,
      columnsOf(view, wish, call),
    );
    if (!world.out(`${lines.join("\n")}\n`)) return;
  }
  if (call.verbosity < 0) return;
  if (rows.length === 0) world.err(`${others.size > 0 ? nothingPasses(others) : view.empty}\n`);
  if (look.marks !== undefined) world.err(remarks(view, scene, look));
}

/** What to try instead: the rows that there are, in words that a filter takes. */
function nothingPasses(states: ReadonlySet<string>): string {
  return `No row passes the filter. Without it there are some, which are: ${[...states].join(", ")}.`;
}

/** What else one should know, on a terminal. */
function remarks<R>(view: AnyView<R>, scene: Scene, look: Look): string {
  const lines = view.remarks?.(scene) ?? [];
  return lines
    .map((line) => `${painted(`${look.marks?.problem ?? ""}${clean(line)}`, "problem", look)}\n`)
    .join("");
}
