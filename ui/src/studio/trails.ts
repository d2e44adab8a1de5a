/** The trails of a project as a tree of folders, and which of them are wanted. */
import type { WorkspaceTrail } from '../generated/messages.ts';

export interface Folder {
  name: string;
  /** The folders above it and its own name, joined by `/`. */
  path: string;
  folders: Folder[];
  trails: WorkspaceTrail[];
}

/** Trails that match all words and have the tag. */
export function matching(trails: readonly WorkspaceTrail[], text: string, tag: string): WorkspaceTrail[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return trails.filter((trail) => {
    const haystack = `${trail.path} ${trail.title} ${trail.tags.join(' ')}`.toLowerCase();
    return (!tag || trail.tags.includes(tag)) && words.every((word) => haystack.includes(word));
  });
}

/** A folder that has nothing but another folder is shown as one with it. */
export function tree(trails: readonly WorkspaceTrail[]): Folder {
  const root: Folder = { name: '', path: '', folders: [], trails: [] };
  for (const trail of trails) {
    let at = root;
    for (const name of trail.path.split('/').slice(0, -1)) {
      let next = at.folders.find((folder) => folder.name === name);
      if (!next) {
        next = { name, path: at.path ? `${at.path}/${name}` : name, folders: [], trails: [] };
        at.folders.push(next);
      }
      at = next;
    }
    at.trails.push(trail);
  }
  const short = (folder: Folder): Folder => {
    const folders = folder.folders.map(short);
    const [only] = folders;
    if (folder.name && only && folders.length === 1 && !folder.trails.length) return { ...only, name: `${folder.name}/${only.name}` };
    return { ...folder, folders };
  };
  return short(root);
}

export function pathsIn(folder: Folder): string[] {
  return [...folder.folders.flatMap(pathsIn), ...folder.trails.map((trail) => trail.path)];
}
