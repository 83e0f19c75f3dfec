import type { ParseResult } from "../../../base/text.ts";
import { compilePattern, type PatternStep } from "./compile-pattern.ts";
import { isWordCodePoint, parsePattern } from "./parse-pattern.ts";

/** What is before and after a position of the text. */
interface Surroundings {
  before: number | undefined;
  after: number | undefined;
}

/** A state of the automaton: the steps that are possible, and what was before. Its transitions are found when needed. */
interface PatternState {
  steps: readonly number[];
  /** One character stands for all of its kind: undefined for the start of the text, a letter, or a blank. */
  before: number | undefined;
  next: Map<number, PatternState | "match">;
  matchesAtEnd: boolean | undefined;
}

/**
 * How much work a pattern may need to build its automaton, steps visited: a few tenths of a second. Afterwards each
 * character of a text costs one look-up.
 */
const MAX_WORK = 2_000_000;

const [LETTER, OTHER] = [97, 32];

/**
 * A compiled regular expression. Matching takes time linear in the text, whatever the pattern is, because no text is
 * read twice; and building the automaton is limited, because it could have exponentially many states.
 */
export class SearchPattern {
  readonly #steps: readonly PatternStep[];
  readonly #start: number;
  readonly #states = new Map<string, PatternState>();
  readonly #first: PatternState;
  #work = 0;

  private constructor({ steps, start }: { steps: readonly PatternStep[]; start: number }) {
    this.#steps = steps;
    this.#start = start;
    this.#first = this.#findState([start], undefined);
  }

  static create(text: string): ParseResult<SearchPattern> {
    const parsed = parsePattern(text);
    if ("fault" in parsed) return parsed;
    const compiled = compilePattern(parsed.value);
    return "fault" in compiled ? compiled : { value: new SearchPattern(compiled.value) };
  }

  /** Whether the pattern has used up its work. It then matches nothing. */
  get isExhausted(): boolean {
    return this.#work > MAX_WORK;
  }

  /** Whether the pattern matches anywhere in a text. @param text  in lower case */
  matches(text: string): boolean {
    let state = this.#first;
    for (const letter of text) {
      const codePoint = letter.codePointAt(0) ?? 0;
      const next = state.next.get(codePoint) ?? this.#addTransition(state, codePoint);
      if (next === undefined) return false;
      if (next === "match") return true;
      state = next;
    }
    state.matchesAtEnd ??= this.#expand(state, undefined).some((at) => this.#steps[at]?.op === "match");
    return state.matchesAtEnd && !this.isExhausted;
  }

  #addTransition(state: PatternState, codePoint: number): PatternState | "match" | undefined {
    if (this.isExhausted) return undefined;
    const next = this.#computeNext(state, codePoint);
    state.next.set(codePoint, next);
    return next;
  }

  #computeNext(state: PatternState, codePoint: number): PatternState | "match" {
    const following = new Set<number>();
    for (const at of this.#expand(state, codePoint)) {
      const step = this.#steps[at];
      if (step?.op === "match") return "match";
      if (step?.op === "set" && step.has(codePoint)) following.add(step.next);
    }
    following.add(this.#start); // a match may begin anywhere
    return this.#findState(
      [...following].sort((a, b) => a - b),
      isWordCodePoint(codePoint) ? LETTER : OTHER,
    );
  }

  /** Returns all steps that can be reached without a character. */
  #expand({ steps, before }: PatternState, after: number | undefined): readonly number[] {
    const seen = new Set<number>(steps);
    for (const at of seen) {
      this.#work += 1;
      const step = this.#steps[at];
      if (step?.op === "fork") for (const next of step.next) seen.add(next);
      if (step?.op === "assertion" && isAssertionMet(step.at, { before, after })) seen.add(step.next);
    }
    return [...seen];
  }

  #findState(steps: readonly number[], before: number | undefined): PatternState {
    const id = `${before} ${steps.join(" ")}`;
    const known = this.#states.get(id);
    if (known !== undefined) return known;
    const state: PatternState = { steps, before, next: new Map(), matchesAtEnd: undefined };
    this.#states.set(id, state);
    return state;
  }
}

function isAssertionMet(
  at: Extract<PatternStep, { op: "assertion" }>["at"],
  { before, after }: Surroundings,
): boolean {
  if (at === "start") return before === undefined;
  if (at === "end") return after === undefined;
  const isWord = (one: number | undefined) => one !== undefined && isWordCodePoint(one);
  return (isWord(before) !== isWord(after)) === (at === "boundary");
}
