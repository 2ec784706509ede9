import type { CopiedProject, Digest } from './repository/pieces.ts'

export interface LogState {
  /** The last durable record. */
  readonly position: number
  readonly log: readonly { readonly name: string; readonly bytes: number }[]
}

/** A directory that this process has open. */
export interface OpenDirectory {
  readonly dataDir: string
  clock(): Date
  /** Writes what was committed into the file of the accounts itself. */
  settleAccounts(): Promise<void>
  projects(): Promise<readonly Pick<CopiedProject, 'id' | 'name'>[]>
  /** The same for the store of a project. False: it is closed, and its files are at rest. */
  settle(project: number): Promise<boolean>
  /** Where its log ends. Null: it is closed. */
  logState(project: number): Promise<LogState | null>
  /** What its store says. */
  digest(project: number): Promise<Digest>
}

export interface Progress {
  readonly phase: 'reading' | 'writing' | 'verifying'
  readonly files: number
  readonly bytes: number
  /** Null: not known. */
  readonly ofBytes: number | null
}
