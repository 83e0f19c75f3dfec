import { ASCII_DRAWING, countGraphValues, type Drawing, UNICODE_DRAWING } from "../../cli/views/drawing.ts";
import { buildOverview, type Overview } from "../../cli/views/overview.ts";
import { drawOverview } from "../../cli/views/overview-drawing.ts";
import type { WallTime } from "../../core/base/clock.ts";
import { computeDisplayWidth } from "../../core/base/display-width.ts";
import type { PictureTarget } from "../../site/state/subject.ts";
import type { Size } from "../state/layout.ts";
import type { ShownData } from "./live-view.ts";

/** Interval at which the overview is built again while nothing changes, ms. */
const OVERVIEW_INTERVAL_MS = 5_000;

/** A part of the picture that can be selected. */
export interface PicturePart {
  /** The same in the next picture, as long as its object is shown. */
  id: string;
  line: number;
  left: number;
  width: number;
  target: PictureTarget;
}

interface PictureInput extends Size {
  view: ShownData;
  problems: number | undefined;
  isAscii: boolean;
  wall: WallTime;
}

/** The whole site at a glance: counters, hosts, activity, queues, next runs, failures, etcd. */
export class OverviewPicture {
  #overview: { key: readonly unknown[]; overview: Overview } | undefined;
  /** The parts of the picture that was drawn last. */
  parts: readonly PicturePart[] = [];

  draw({ view, problems, isAscii, wall, width, height }: PictureInput): Drawing {
    const signs = isAscii ? ASCII_DRAWING : UNICODE_DRAWING;
    const { snapshot, clusterHealth } = view;
    const buckets = countGraphValues(width, signs);
    const step = Math.floor(wall / OVERVIEW_INTERVAL_MS);
    const key = [snapshot, clusterHealth, problems, buckets, step];
    if (this.#overview === undefined || key.some((one, at) => one !== this.#overview?.key[at])) {
      const etcd = clusterHealth && ({ kind: "answer", ...clusterHealth } as const);
      const options = { buckets, etcd, ...(problems !== undefined && { problems }) };
      this.#overview = { key, overview: buildOverview(snapshot, wall, options) };
    }
    const lines = drawOverview(this.#overview.overview, { width, signs, wall }, height).slice(0, height);
    this.parts = listParts(lines);
    return lines;
  }

  findPart(id: string | undefined): PicturePart | undefined {
    return id === undefined ? undefined : this.parts.find((part) => part.id === id);
  }

  findPartAt(line: number, column: number): PicturePart | undefined {
    return this.parts.find(
      (part) => part.line === line && column >= part.left && column < part.left + part.width,
    );
  }

  /**
   * Returns the part that a movement leads to; undefined: none, the cursor goes back to the table below.
   * @param from  undefined: from the table
   */
  findNext(from: PicturePart | undefined, by: "up" | "down" | "left" | "right"): PicturePart | undefined {
    if (from === undefined) return by === "up" ? this.#findInLine(this.parts.at(-1)?.line, 0) : undefined;
    const { parts } = this;
    if (by === "left") return parts[parts.indexOf(from) - 1];
    if (by === "right") return parts[parts.indexOf(from) + 1];
    const lines = parts.map(({ line }) => line);
    const line =
      by === "up"
        ? Math.max(...lines.filter((one) => one < from.line))
        : Math.min(...lines.filter((one) => one > from.line));
    return this.#findInLine(line, from.left) ?? (by === "up" ? from : undefined);
  }

  /** Finds the part of a line that is nearest to a column. */
  #findInLine(line: number | undefined, column: number): PicturePart | undefined {
    const parts = this.parts.filter((part) => part.line === line);
    return parts.sort((a, b) => Math.abs(a.left - column) - Math.abs(b.left - column))[0];
  }
}

function listParts(lines: Drawing): PicturePart[] {
  const counts = new Map<string, number>();
  return lines.flatMap((spans, line) => {
    const parts: PicturePart[] = [];
    let left = 0;
    for (const { text, target } of spans) {
      const width = computeDisplayWidth(text);
      const last = parts.at(-1);
      if (target !== undefined && last?.target === target) last.width = left + width - last.left;
      else if (target !== undefined) {
        const name = JSON.stringify(target);
        const count = counts.get(name) ?? 0;
        counts.set(name, count + 1);
        parts.push({ id: `${name} ${count}`, line, left, width, target });
      }
      left += width;
    }
    return parts;
  });
}
