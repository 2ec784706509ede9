import type { BrowserFile, Transpiled } from '../host-ports.ts'
import type { Capabilities, LogLevel } from '../ports.ts'
import type { Limits } from './limits.ts'

// Messages between the server and the threads that run plugins.

/** What a unit is made of: the code and the config of one plugin of one project. */
export interface UnitCode {
  readonly files: Readonly<Record<string, string>>
  readonly main: string | null
  /** JSON: config, attachments, and how events that it captures are attributed. */
  readonly settings: string
}

/** What became of one call. `limit`: the plugin was ended. `not-run`: it did not run to its end for another call's sake, and can run again. */
export type Outcome =
  | { readonly kind: 'value'; readonly json: string | null }
  | { readonly kind: 'error'; readonly text: string; readonly isRetryable: boolean }
  | { readonly kind: 'limit'; readonly text: string; readonly endedThread?: boolean }
  | { readonly kind: 'not-run' }

export type Loaded =
  | { readonly kind: 'loaded'; readonly capabilities: Capabilities }
  | { readonly kind: 'failed'; readonly text: string; readonly isRetryable: boolean }

export type ToThread =
  | {
      readonly kind: 'load'
      readonly id: number
      readonly unit: number
      readonly code: UnitCode
      readonly limits: Limits
      readonly isSetUp: boolean
    }
  | {
      readonly kind: 'run'
      readonly id: number
      readonly unit: number
      readonly method: string
      /** A line of JSON each; empty for calls without an argument. */
      readonly args: string
      readonly isOneByOne: boolean
    }
  | { readonly kind: 'unload'; readonly id: number; readonly unit: number }
  | { readonly kind: 'compile'; readonly id: number; readonly name: BrowserFile; readonly text: string }
  | { readonly kind: 'answer'; readonly unit: number; readonly call: number; readonly isOk: boolean; readonly json: string }

export type FromThread =
  | { readonly kind: 'done'; readonly id: number; readonly loaded: Loaded }
  /** Values are lines of JSON, empty without a value. Other outcomes are listed, and have an empty line. */
  | { readonly kind: 'ran'; readonly id: number; readonly values: string; readonly others: readonly (readonly [index: number, Outcome])[] }
  | { readonly kind: 'unloaded'; readonly id: number }
  | { readonly kind: 'compiled'; readonly id: number; readonly result: Transpiled }
  | { readonly kind: 'call'; readonly unit: number; readonly call: number; readonly name: string; readonly json: string }
  | { readonly kind: 'log'; readonly unit: number; readonly level: LogLevel; readonly text: string }

/** What a thread is doing, in shared memory: the unit that runs code, and a number that changes with each entry. */
export const busyUnit = 0
export const busyEntry = 1
