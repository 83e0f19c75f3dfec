import { createContext, use, useRef, useSyncExternalStore } from "react";
import type { ConsoleApp } from "./console-app.ts";
import { isSameData } from "./parts/frames.ts";

/** The console that the components show. */
export const ConsoleContext = createContext<ConsoleApp | undefined>(undefined);

/** Returns the console, for handlers of events. */
export function useApp(): ConsoleApp {
  const app = use(ConsoleContext);
  if (app === undefined) throw new Error("this component needs a console around it");
  return app;
}

/**
 * Returns what a component shows of the console, as plain data. The component is rendered again when a frame has other
 * data.
 * @param select  called once for each frame and input
 */
export function useConsole<T>(select: (app: ConsoleApp) => T): T;
export function useConsole<T, Input>(select: (app: ConsoleApp, input: Input) => T, input: Input): T;
export function useConsole<T>(select: (app: ConsoleApp, input: unknown) => T, input?: unknown): T {
  const app = useApp();
  const last = useRef<{ of: readonly unknown[]; data: T }>(undefined);
  const readData = (): T => {
    const of = [app, app.frames.number, select, input];
    const before = last.current;
    if (before !== undefined && isSameData(before.of, of)) return before.data;
    const next = select(app, input);
    const isSame = before !== undefined && isSameData(before.data, next);
    if (!isSame) app.frames.hasNews = true;
    last.current = { of, data: isSame ? before.data : next };
    return last.current.data;
  };
  return useSyncExternalStore(app.frames.subscribe, readData);
}

/** Returns the console. The component is rendered again for every frame. */
export function useFrame(): ConsoleApp {
  useConsole(getFrameNumber);
  return useApp();
}

const getFrameNumber = ({ frames }: ConsoleApp) => frames.number;
