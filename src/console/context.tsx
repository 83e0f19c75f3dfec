import { isDeepStrictEqual } from "node:util";
import { createContext, use, useRef, useSyncExternalStore } from "react";
import type { ConsoleApp } from "./console-app.ts";

/** The console that the components show. */
export const ConsoleContext = createContext<ConsoleApp | undefined>(undefined);

/** Returns the console, for handlers of events. */
export function useApp(): ConsoleApp {
  const app = use(ConsoleContext);
  if (app === undefined) throw new Error("this component needs a console around it");
  return app;
}

/** Data that can be compared by its parts: no functions, so no objects with methods other than those of the language. */
type PlainData<T> = T extends (...args: never[]) => unknown
  ? never
  : T extends ReadonlyMap<unknown, unknown> | ReadonlySet<unknown> | readonly unknown[] | string | bigint
    ? T
    : { [K in keyof T]: PlainData<T[K]> };

/**
 * Returns what a component shows of the console. The component is rendered again when a frame has other data.
 * @param select  returns plain data; called once for each frame and input
 */
export function useConsole<T, Input extends readonly unknown[]>(
  select: (app: ConsoleApp, ...input: Input) => T & PlainData<T>,
  ...input: Input
): T {
  const app = useApp();
  const { frames } = app;
  const last = useRef<{ of: readonly unknown[]; data: T }>(undefined);
  const readData = (): T => {
    const of = [frames.current, select, input];
    const before = last.current;
    if (before !== undefined && isDeepStrictEqual(before.of, of)) return before.data;
    const next = select(app, ...input);
    const isSame = before !== undefined && isDeepStrictEqual(before.data, next);
    if (!isSame) frames.hasNews = true;
    last.current = { of, data: isSame ? before.data : next };
    return last.current.data;
  };
  return useSyncExternalStore(frames.subscribe, readData);
}

/** Returns the console. The component is rendered again for every frame. */
export function useFrame(): ConsoleApp {
  useConsole(getFrame);
  return useApp();
}

const getFrame = ({ frames }: ConsoleApp) => frames.current;
