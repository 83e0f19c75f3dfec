import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, normalize, resolve } from "node:path";
import { expect, test } from "vitest";
import { ROOMS } from "../../rooms.config.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const IMPORT = /(?:from|import\(|^import)\s*"(\.[^"]+)"/gm;

const roomOf = (file: string) => file.split("/")[1] ?? "";

/** Files of other rooms that the files of src import, by room. */
function listImportedFiles() {
  const imported = new Map<string, Set<string>>(Object.keys(ROOMS).map((room) => [room, new Set<string>()]));
  for (const file of globSync("src/**/*.{ts,tsx}", { cwd: ROOT }))
    for (const [, specifier = ""] of readFileSync(join(ROOT, file), "utf8").matchAll(IMPORT)) {
      const target = normalize(join(dirname(file), specifier));
      if (roomOf(target) !== roomOf(file)) imported.get(roomOf(target))?.add(target);
    }
  return imported;
}

const listDoors = (room: string) => Object.values(ROOMS[room]?.doors ?? {}).flat();

const imported = listImportedFiles();

test("the rooms are the folders of src", () => {
  expect(
    globSync("src/*/", { cwd: ROOT })
      .map((folder) => roomOf(folder))
      .sort(),
  ).toEqual(Object.keys(ROOMS).sort());
});

test.each(Object.keys(ROOMS))("each door of %s exists, and another room uses it", (room) => {
  const unused = listDoors(room).filter((door) => {
    const path = `src/${room}/${door}`;
    return (
      !existsSync(join(ROOT, path)) || ![...(imported.get(room) ?? [])].some((file) => file.startsWith(path))
    );
  });
  expect(unused).toEqual([]);
});

test("no file is named for a room or hands on what others export", () => {
  const named = globSync("src/*/{index,mod,all}.ts", { cwd: ROOT });
  expect(named).toEqual(["src/library/index.ts"]); // the package's entry point
});
