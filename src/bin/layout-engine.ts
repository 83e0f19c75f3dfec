/**
 * Replaces the package yoga-layout, which Ink imports, in the bundle of the console. That package compiles its WebAssembly
 * while it is imported, with an `await` at its top level, which a CommonJS module cannot have.
 */
import { loadYoga, type Yoga } from "yoga-layout/load";

export * from "yoga-layout/load";

const engine = {} as Yoga;
export default engine;

/** Compiles the layout engine. Call it before Ink renders anything. */
export async function loadLayoutEngine(): Promise<void> {
  Object.assign(engine, await loadYoga());
}
