// What is driven, and what was seen. A probe makes the same input at any size it is asked for; what is sent depends on the size alone.

/** Whose credentials go with a request. `token`: the project's key as bearer. `viewer`: a token that opens all kinds of questions over some events. */
export type As = 'nobody' | 'token' | 'key' | 'session' | 'viewer'

/** One request to the server. */
export interface HttpInput {
  readonly to: 'server'
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array | null
  /** Bytes that were meant: of a packed body what it unpacks to, and of what was stored before as much as it changes. */
  readonly bytes: number
  readonly as: As
  /** So many of the same at once. Default 1. */
  readonly connections?: number
  /** What it begins goes on behind its answer: the process is ended with it after a while, and that is no finding. */
  readonly isEndless?: boolean
  /** The last byte of each body is held back until all the others have been sent. */
  readonly isHeldBack?: boolean
  /** One after the other instead of at once. */
  readonly inTurn?: boolean
  /** What differs from one connection to the next. */
  readonly each?: readonly { readonly path: string; readonly authorization: string }[]
  /** A small request that has to be answered afterwards. */
  readonly after?: HttpInput
  /** Sent and stored before anything is measured. */
  readonly before?: readonly HttpInput[]
}

/** One call of a function of ours, in a process of its own. */
export interface CallInput {
  readonly to: 'call'
  readonly call: string
  readonly given: unknown
  readonly bytes: number
}

export type Input = HttpInput | CallInput

export type Door = 'capture' | 'route' | 'ask' | 'call' | 'crowd' | 'queries' | 'accounts'

export interface Probe {
  /** Unique, and enough to make the same probe again: `statement/cte-twice`. */
  readonly name: string
  readonly door: Door
  /** What grows with the size: the request, whose cost has to be in proportion, or only what it asks for, which has to stay within the budgets. */
  readonly grows: 'input' | 'data'
  readonly from: number
  readonly most: number
  /** From one size to the next; 4 when not given. */
  readonly step?: number
  make(size: number): Input
  /** Other ways to write the same, tried in turn while the server refuses the smallest input. */
  readonly others?: readonly ((size: number) => Input)[]
}

/** What one input cost. */
export interface Figures {
  readonly size: number
  readonly bytes: number
  /** Processor time of the whole process until it was idle again. */
  readonly cpuMs: number
  /** By the clock, to be read beside it: others may have had the cores. */
  readonly wallMs: number
  /** The most processor time that the main thread used while a light request waited for its answer. */
  readonly holdMs: number
  /** The longest that somebody else's small request waited, by the processor time that the server used meanwhile, all cores at work. */
  readonly othersMs: number
  /** Peak of resident memory above what it was before. */
  readonly residentMb: number
  /** Growth of the data directory. */
  readonly diskBytes: number
  readonly answerBytes: number
  /** HTTP status; 0 when the client left first. */
  readonly status: number
  /** Why the process had to be ended, or ended by itself. */
  readonly end: string | null
}

export interface Finding {
  readonly probe: string
  readonly what: string
  /** The smallest size that shows it, and its figures; for growth those at n, 2n and 4n. */
  readonly size: number
  readonly figures: readonly Figures[]
  readonly sample: string
}
