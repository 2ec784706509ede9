import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const git = (root: string, ...args: string[]): string =>
  execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim()

export interface Checkout {
  readonly folder: string
  remove(): void
}

/** Where the repository that this program was started in lies. */
export const repositoryRoot = (): string => git(process.cwd(), 'rev-parse', '--show-toplevel')

/** The full name of the commit; null where there is none. */
export function commitOf(root: string, revision: string): string | null {
  try {
    return git(root, 'rev-parse', '--verify', '--quiet', '--end-of-options', `${revision}^{commit}`)
  } catch {
    return null
  }
}

/** A commit in a worktree of its own, with the packages of the repository. */
export function checkout(root: string, commit: string): Checkout {
  const parent = mkdtempSync(join(tmpdir(), 'waymark-revision-'))
  const folder = join(parent, 'tree')
  const remove = () => {
    try {
      git(root, 'worktree', 'remove', '--force', folder)
    } finally {
      rmSync(parent, { recursive: true, force: true })
      git(root, 'worktree', 'prune')
    }
  }
  try {
    git(root, 'worktree', 'add', '--detach', '--quiet', folder, commit)
    const packages = join(root, 'node_modules')
    if (existsSync(packages)) symlinkSync(packages, join(folder, 'node_modules'))
  } catch (error) {
    rmSync(parent, { recursive: true, force: true })
    git(root, 'worktree', 'prune')
    throw error
  }
  return { folder, remove }
}
