"""Which files a table names, which are there, and what kind a file is."""

from __future__ import annotations

from functools import lru_cache

from home import Home
from pyiceberg.manifest import ManifestEntryStatus


def files_added(table, snapshot) -> list[str]:
    """The data files that this snapshot brought."""
    entries = [
        entry
        for manifest in snapshot.manifests(table.io)
        if manifest.added_snapshot_id == snapshot.snapshot_id
        for entry in manifest.fetch_manifest_entry(table.io, discard_deleted=True)
    ]
    return [e.data_file.file_path for e in entries if e.status == ManifestEntryStatus.ADDED and e.snapshot_id == snapshot.snapshot_id]


class _ByPath:
    """A manifest, told from others by its path: what a path holds never changes."""

    def __init__(self, manifest, io):
        self.manifest, self.io = manifest, io

    def __hash__(self) -> int:
        return hash(self.manifest.manifest_path)

    def __eq__(self, other) -> bool:
        return self.manifest.manifest_path == other.manifest.manifest_path


@lru_cache(maxsize=20_000)
def _files_of(one: _ByPath) -> tuple[str, ...]:
    entries = one.manifest.fetch_manifest_entry(one.io, discard_deleted=False)
    return tuple(entry.data_file.file_path for entry in entries if entry.status != ManifestEntryStatus.DELETED)


def named_by_snapshots(table) -> set[str]:
    """Locations of all that the table's snapshots need: manifest lists, manifests, and the files that are live in them."""
    named = set()
    for snapshot in table.metadata.snapshots:
        named.add(snapshot.manifest_list)
        for manifest in snapshot.manifests(table.io):
            named.add(manifest.manifest_path)
            named.update(_files_of(_ByPath(manifest, table.io)))
    return named


def left_behind(home: Home, table) -> set[str]:
    """Files below the table's folder that nothing in its history names; what it names has to be there."""
    named = {table.metadata_location, *(entry.metadata_file for entry in table.metadata.metadata_log)} | named_by_snapshots(table)
    named = {home.path_of(location) for location in named}
    files = home.files_below(table.location())
    assert named <= files, f"files that the table names are gone: {sorted(named - files)}"
    return files - named


def kind_of(path: str) -> str:
    name = path.rsplit("/", 1)[1]
    if "/data/" in path:
        return "data"
    if ".metadata.json" in name:
        return "metadata"
    return "list" if name.removeprefix(".").startswith("snap-") else "manifest"
