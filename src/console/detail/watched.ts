import type { Desk } from "../../commands/with-store.ts";
import type { Detail } from "../../model/detail/detail.ts";
import type { Picture } from "../../model/picture.ts";
import type { Subject } from "../../model/tables/view.ts";
import type { Table } from "../table/table.ts";
import { detailOf, placesOf } from "./detail-of.ts";
import { Pulser } from "./pulser.ts";
import { Recalled } from "./recalled.ts";

/** The detail of what is selected, with how its runners are; made anew only when something in it is another. */
export class Watched {
  readonly #pulser: Pulser;
  readonly #recalled: Recalled;
  #known: { for: readonly unknown[]; detail: Detail | undefined } | undefined;

  /** @param onChange  told when more is known of the runners */
  constructor(desk: Desk, onChange: () => void) {
    this.#pulser = new Pulser(desk, onChange);
    this.#recalled = new Recalled(desk, onChange);
  }

  /** From now on it is about this. @param wall  wall clock, ms since the epoch */
  look(subject: Subject | undefined, picture: Picture, wall: number): void {
    this.#pulser.want(subject === undefined ? [] : placesOf(subject, picture, wall));
    this.#recalled.want(subject?.kind === "schedule" ? subject.name : undefined, picture);
  }

  /** @param index  where the row stands in its table */
  of(
    subject: Subject | undefined,
    picture: Picture,
    table: Table,
    index: number,
    wall: number,
  ): Detail | undefined {
    const pulses = this.#pulser.known;
    const outcomes = this.#recalled.known;
    const key = [JSON.stringify(subject), picture, Math.floor(wall / 1000), pulses, outcomes, index];
    if (this.#known?.for.every((one, at) => one === key[at]) !== true) {
      const behind = { picture: { ...picture, outcomes }, wall, pulses, facts: table.factsAt(index, wall) };
      this.#known = { for: key, detail: subject && detailOf(subject, behind) };
    }
    return this.#known?.detail;
  }

  end(): void {
    this.#pulser.end();
    this.#recalled.end();
  }
}
