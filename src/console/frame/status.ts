import { briefDuration } from "../../base/duration.ts";
import { clean } from "../../base/text.ts";
import type { App } from "../app/app.ts";
import type { Role } from "../theme/roles.ts";
import { barLine, type Piece } from "./bar.ts";

/** How far the picture can be trusted, what runs, and the keys that matter here. Always the last line. */
export function statusLine(app: App, width: number): string {
  const { theme } = app;
  const isLive = app.sight.standing.kind === "live";
  const ground: Role = isLive ? "barLive" : "barAway";
  const left = [...standing(app, ground), ...jobs(app, ground), ...toast(app, ground)];
  const hints = app.hints().map(([key, what], at): Piece => {
    return { text: ` ${key} ${what} `, role: ground, weight: 5 + at };
  });
  return barLine(theme, width, left, hints, ground);
}

function standing(app: App, role: Role): Piece[] {
  const { sight, theme } = app;
  const { standing: state, picture, pulse } = sight;
  const { signs } = theme;
  const age = briefDuration(app.wall() - state.since);
  const revision = picture.revision === 0n ? "" : `rev ${picture.revision}`;
  if (state.kind === "live") {
    const cluster = pulse === undefined ? "" : clusterText(pulse, signs.dot);
    return [
      { text: ` ${signs.marks.held}live ${revision}`, role, weight: 1 },
      { text: cluster, role, weight: 3 },
    ];
  }
  const what = {
    opening: `connecting for ${age}`,
    away: `etcd is away for ${age}${revision && `, last known: ${revision}`}`,
    refused: `etcd refuses for ${age}${revision && `, last known: ${revision}`}`,
  }[state.kind];
  return [
    { text: ` ${signs.marks.problem}${what}`, role, weight: 1 },
    { text: state.fault === undefined ? "" : ` ${signs.dot} ${clean(state.fault, 60)}`, role, weight: 4 },
  ];
}

function clusterText({ leader, up, total, ms }: NonNullable<App["sight"]["pulse"]>, dot: string): string {
  const parts = [
    ...(leader === undefined ? [] : [`leader ${clean(leader, 30)}`]),
    `${up}/${total}`,
    `${Math.max(1, Math.round(ms))} ms`,
  ];
  return parts.map((part) => ` ${dot} ${part}`).join("");
}

function jobs({ jobs: { running }, theme }: App, role: Role): Piece[] {
  const [first] = running;
  if (first === undefined) return [];
  const more = running.length > 1 ? ` +${running.length - 1}` : "";
  return [
    { text: ` ${theme.signs.dot} ${theme.signs.arrow} ${clean(first.title, 40)}${more}`, role, weight: 2 },
  ];
}

function toast({ state: { toast: shown }, theme }: App, role: Role): Piece[] {
  if (shown === undefined) return [];
  return [{ text: ` ${theme.signs.dot} ${clean(shown.text, 70)}`, role, weight: 2 }];
}
