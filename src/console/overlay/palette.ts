import type { App } from "../app/app.ts";
export function openPalette(_app: App): void {}
