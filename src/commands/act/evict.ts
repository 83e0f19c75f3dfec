import { formatDuration } from "../../base/duration.ts";
import { EXIT, SignalboxError } from "../../base/errors.ts";
import { clean } from "../../base/text.ts";
import { liveness } from "../../model/alive.ts";
import { whoIs } from "../../model/claims.ts";
import { differences } from "../../model/differences.ts";
import { type Foresight, foresee } from "../../model/foresee.ts";
import { foresightLines } from "../../model/foresight-text.ts";
import { type Picture, queueIn } from "../../model/picture.ts";
import { holds } from "../../protocol/admission.ts";
import type { QueueKind } from "../../protocol/keys.ts";
import type { Place } from "../../protocol/ticket.ts";
import { conclude, type Receipt } from "../../work/operate/act.ts";
import { type DepartureNews, untilGone } from "../../work/operate/depart.ts";
import { canBeAsked, removeTickets, requestResets } from "../../work/operate/reset.ts";
import { consent } from "../confirm.ts";
import { durationFlag, reasonFlag, revisionFlag } from "../flags.ts";
import { changesSince, pictureOf, QUEUE_ROOMS } from "../look.ts";
import { runnersJson } from "../see/show-json.ts";
import { pulsesOf } from "../sight.ts";
import type { Call, Surroundings } from "../spec.ts";
import { json } from "../table.ts";
import { type Desk, Interrupted } from "../with-store.ts";
import { evictionJson } from "./evict-json.ts";

/** Tickets that an operator wants gone, and the picture in which they were seen. */
export interface Plan {
  action: "reset" | "release";
  /** As the audit has it: `lock invoices`. */
  target: string;
  picture: Picture;
  places: readonly Place[];
  /** Where something may have moved since. */
  queues: readonly { kind: QueueKind; name: string }[];
  /** The command that does it again, without flags. */
  words: string;
  /** Said where there are no tickets. */
  nothing: string;
}

/** Shows what an eviction does, asks, does it, and waits until the runs are gone. @returns the exit code */
export async function evict(call: Call, world: Surroundings, desk: Desk, plan: Plan): Promise<number> {
  return await new Evicting(call, world, desk, plan).run();
}

/** Runners whose state is shown in a preview. */
const MOST_RUNNERS = 8;

type Outcome = "nothing" | "dry-run" | "declined" | "changed" | "asked" | "done" | "timeout";

const CODES: Record<Outcome, number> = {
  ...{ nothing: EXIT.ok, "dry-run": EXIT.ok, asked: EXIT.ok, done: EXIT.ok },
  ...{ declined: EXIT.undone, changed: EXIT.changed, timeout: EXIT.timeout },
};

class Evicting {
  readonly #call: Call;
  readonly #world: Surroundings;
  readonly #desk: Desk;
  readonly #plan: Plan;
  readonly #foresight: Foresight;
  /** How the runners are, as far as they were asked. */
  #asked: readonly object[] = [];

  constructor(call: Call, world: Surroundings, desk: Desk, plan: Plan) {
    this.#call = call;
    this.#world = world;
    this.#desk = desk;
    this.#plan = plan;
    const runs = new Set(plan.places.map(({ run }) => run));
    this.#foresight = foresee(plan.picture, runs, desk.clock.wall());
  }

  async run(): Promise<number> {
    const { places, nothing, target } = this.#plan;
    const moved = await this.#movedSince();
    if (moved.length > 0) return this.#end("changed", moved);
    if (places.length === 0) return this.#end("nothing", [nothing]);
    this.#checkReadable();
    const lines = [...foresightLines(this.#foresight, this.#desk.clock.wall()), ...(await this.#runners())];
    if (this.#call.flags["dry-run"]) return this.#end("dry-run", [...lines, `do it with: ${this.#repeat()}`]);
    if (!this.#call.flags.yes) for (const line of lines) this.#say(line);
    const answer = await consent(this.#call, this.#world, `${this.#verb()} ${clean(target)}?`);
    if (answer !== "go") return this.#end("declined", ["nothing was done"]);
    const receipt = await this.#act();
    if (receipt?.kind === "changed") return this.#end("changed", await this.#movedNow());
    if (this.#call.flags["no-wait"]) return this.#end("asked", [`${this.#who()} was asked to end`]);
    return await this.#wait(receipt);
  }

  async #movedSince(): Promise<string[]> {
    const expected = revisionFlag(this.#call, "expect-revision");
    if (expected === undefined) return [];
    const { picture, queues } = this.#plan;
    const changes = await Promise.all(
      queues.map((queue) => changesSince(this.#desk, picture, queue, expected)),
    );
    return [...new Set(changes.flat())];
  }

  /** What others did between our look and our try. */
  async #movedNow(): Promise<string[]> {
    const { picture, queues } = this.#plan;
    const now = await pictureOf(this.#desk, QUEUE_ROOMS);
    const sentences = queues.flatMap(({ kind, name }) =>
      differences(queueIn(picture, kind, name)?.places ?? [], queueIn(now, kind, name)?.places ?? []),
    );
    return sentences.length > 0 ? [...new Set(sentences)] : ["it changed, and changed back"];
  }

  /** How the runners are that are to be ended: one that is gone answers no request. */
  async #runners(): Promise<string[]> {
    if (this.#call.flags.yes && !this.#call.flags["dry-run"]) return [];
    const places = this.#plan.places.slice(0, MOST_RUNNERS);
    const beats = await pulsesOf(this.#desk, places);
    this.#asked = runnersJson(places, beats);
    return places.map((place) => `state ${whoIs(place)}: ${liveness(beats.get(place.session)).text}`);
  }

  #checkReadable(): void {
    const strange = this.#plan.places.find((place) => !canBeAsked(place));
    if (strange === undefined || this.#call.flags.force) return;
    throw new SignalboxError(
      EXIT.undone,
      `nothing was done: the ticket ${strange.key} cannot be read, so its run cannot be asked; --force deletes it`,
    );
  }

  #act(): Promise<Receipt | undefined> {
    const { action, target, places, picture } = this.#plan;
    const reason = reasonFlag(this.#call);
    const eviction = { action, target, places, seen: picture.revision, reason };
    return this.#call.flags.force ? removeTickets(this.#desk, eviction) : requestResets(this.#desk, eviction);
  }

  /** Until the tickets are gone: then the commands are dead, and the next may start. */
  async #wait(receipt: Receipt | undefined): Promise<number> {
    const { clock, signal } = this.#desk;
    const start = clock.now();
    const timeout = durationFlag(this.#call, "timeout");
    if (!this.#call.flags.force) this.#say(`asked ${this.#who()} to end, waiting until it has`);
    const deadline = timeout === undefined ? undefined : start + timeout;
    try {
      const news = (one: DepartureNews) => this.#tell(one);
      const left = await untilGone(this.#desk, this.#plan.places, { signal, deadline, news });
      const took = formatDuration(Math.round((clock.now() - start) / 100) * 100);
      if (left.length > 0) return await this.#late(receipt, left.length, took);
      await this.#conclude(receipt, this.#call.flags.force ? "removed by force" : `ended after ${took}`);
      return this.#end("done", [`${this.#who()} has ended, after ${took}`, ...(await this.#successors())]);
    } catch (error) {
      if (error instanceof Interrupted) this.#say("no longer waiting; what was asked stands");
      throw error;
    }
  }

  async #late(receipt: Receipt | undefined, left: number, took: string): Promise<number> {
    await this.#conclude(receipt, `${left} still there after ${took}`);
    return this.#end("timeout", [
      `${left} of ${this.#plan.places.length} tickets still stand after ${took}; the request stands too`,
      "a runner that is frozen or gone loses its claim when its session expires; --force does not wait for that",
    ]);
  }

  async #conclude(receipt: Receipt | undefined, outcome: string): Promise<void> {
    if (receipt?.kind === "done") await conclude(this.#desk, receipt.record, outcome);
  }

  /** Who has what was freed, as it is now; a grant takes some milliseconds. */
  async #successors(): Promise<string[]> {
    const now = await pictureOf(this.#desk, QUEUE_ROOMS);
    return this.#plan.queues.map(({ kind, name }) => {
      const places = queueIn(now, kind, name)?.places ?? [];
      const [holder] = places.filter(holds);
      if (holder !== undefined) return `${kind} ${name} is now held by ${whoIs(holder)}`;
      const [next] = places;
      return `${kind} ${name} is free, ${next === undefined ? "nobody waits for it" : `next is ${whoIs(next)}`}`;
    });
  }

  #tell(news: DepartureNews): void {
    if (news.kind === "away") this.#say(`etcd is away (${news.error.message}); waiting for it`);
    if (news.kind === "back") this.#say("etcd is back");
    if (news.kind === "left" && news.remaining > 0) this.#say(`${news.remaining} still to end`);
  }

  #end(outcome: Outcome, lines: readonly string[]): number {
    const isFault = outcome === "changed" || outcome === "timeout";
    const headed = outcome === "changed" ? ["nothing was done, for something has moved:", ...lines] : lines;
    if (this.#call.flags.json)
      this.#world.out(
        json(evictionJson(this.#plan, this.#foresight, this.#asked, { outcome, messages: lines })),
      );
    else if (isFault) for (const line of headed) this.#say(line);
    else for (const line of headed) this.#world.out(`${clean(line)}\n`);
    return outcome === "nothing" && this.#call.flags.strict ? EXIT.undone : CODES[outcome];
  }

  #who(): string {
    const names = [...new Set(this.#plan.places.map(whoIs))];
    return names.length > 3
      ? `${names.slice(0, 3).join(", ")} and ${names.length - 3} more`
      : names.join(", ");
  }

  #verb(): string {
    const verb = this.#plan.action === "reset" ? "Reset" : "Release";
    return this.#call.flags.force ? `${verb}, at the risk that two commands run at once,` : verb;
  }

  #repeat(): string {
    const force = this.#call.flags.force ? " --force" : "";
    return `${this.#plan.words}${force} --expect-revision ${this.#plan.picture.revision} --yes`;
  }

  #say(line: string): void {
    if (this.#call.verbosity >= 0) this.#world.err(`signalbox: ${clean(line)}\n`);
  }
}
