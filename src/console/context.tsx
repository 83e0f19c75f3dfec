import { createContext, use } from "react";
import type { ConsoleApp } from "./console-app.ts";

/** The console that the components show, wrapped in a new object for every frame. */
export const ConsoleContext = createContext<{ app: ConsoleApp } | undefined>(undefined);

/** Returns the console. The component is rendered again for every frame. */
export function useConsole(): ConsoleApp {
  const context = use(ConsoleContext);
  if (context === undefined) throw new Error("this component needs a console around it");
  return context.app;
}
