import type { App } from "../app/app.ts";
export function openDeed(_app: App, _id: string): void {}
export function openEdit(_app: App): void {}
export function openCreate(_app: App): void {}
export function openDelete(_app: App): void {}
