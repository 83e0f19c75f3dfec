/** Writes the package for rpm: the files of the Debian package. @see rpmbuild(8) */
import { lstatSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { $ } from "zx";
import { findMaintainer, PACKAGE_DESCRIPTION, PACKAGE_SUMMARY, toDebianVersion } from "./debian-texts.ts";
import { listOwnFolders, normalizeTree } from "./normalize.ts";
import type { PackageJob } from "./package-job.ts";

const SCRIPT_FOLDER = join(import.meta.dirname, "rpm");
const SCRIPT_NAMES = ["pre", "post", "preun", "postun"];

/** The files are as they are in the tree, and the package as its sources: nothing is stripped, found or named after this machine. */
const BUILD_MACROS = `%global __os_install_post %{nil}
%global debug_package %{nil}
%global _build_id_links none
%global _binary_payload w7.zstdio
%global _buildhost signalbox
%global use_source_date_epoch_as_buildtime 1
%global clamp_mtime_to_source_date_epoch 1
`;

/** @param tree  what is installed. @returns the name of the package */
export async function writeRpmPackage(job: PackageJob, tree: string): Promise<string> {
  const { folder, time, target } = job;
  const paths = normalizeTree(tree, time);
  const scratch = mkdtempSync(join(tmpdir(), "signalbox-rpm-"));
  try {
    const spec = join(scratch, "signalbox.spec");
    writeFileSync(spec, renderSpec(job, tree, paths));
    const words = ["-bb", "--quiet", "--nodeps", "--target", `${target.rpm}-linux`, "--define"];
    await $({
      env: { ...process.env, SOURCE_DATE_EPOCH: String(time) },
    })`rpmbuild ${words} ${`_topdir ${scratch}`} ${spec}`;
    const name = `signalbox-${toDebianVersion(job.version)}-1.${target.rpm}.rpm`;
    await $`cp ${join(scratch, "RPMS", target.rpm, name)} ${join(folder, name)}`;
    return name;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function renderSpec({ version }: PackageJob, tree: string, paths: readonly string[]): string {
  const homepage = process.env.HOMEPAGE ? `URL: ${process.env.HOMEPAGE}\n` : "";
  return `${BUILD_MACROS}
Name: signalbox
Version: ${toDebianVersion(version)}
Release: 1
Summary: ${PACKAGE_SUMMARY}
License: MIT
Packager: ${findMaintainer()}
${homepage}AutoReqProv: no
Requires: glibc >= 2.28, libstdc++ >= 8
Requires(pre): shadow-utils
%description
${PACKAGE_DESCRIPTION.join("\n")}

%install
cp -a '${tree}/.' %{buildroot}/
${SCRIPT_NAMES.map((name) => `%${name}\n${readFileSync(join(SCRIPT_FOLDER, name), "utf8")}`).join("\n")}
%files
%defattr(-,root,root,-)
${[...listOwnFolders(tree).map((path) => renderFolder(path)), ...paths.map((path) => renderFile(tree, path))].join("\n")}
`;
}

function renderFolder(path: string): string {
  return `%dir ${path === "var/lib/signalbox" ? "%attr(-,signalbox,signalbox) " : ""}/${path}`;
}

/** Files in /etc stay as the administrator has changed them. */
function renderFile(tree: string, path: string): string {
  const isConfiguration = path.startsWith("etc/") && !lstatSync(join(tree, path)).isSymbolicLink();
  return `${isConfiguration ? "%config(noreplace) " : ""}"/${path}"`;
}
