// What the thread gives to the program: functions around the whole of it, which no plugin sees. All values cross as JSON.
declare const hostCall: (call: number, name: string, json: string) => string
declare const hostSync: (name: string, json: string) => string
declare const hostDone: (id: number, kind: number, text: string) => void
declare const hostLog: (level: string, text: string) => void
declare const settingsJson: string

// Taken before the plugin runs, which may replace them.
export const { parse, stringify } = JSON
export const { now } = Date
export const join: (list: readonly string[], separator: string) => string = Function.prototype.call.bind(Array.prototype.join)

export const slice: (text: string, from: number, to: number) => string = Function.prototype.call.bind(String.prototype.slice)

export interface Settings {
  readonly main: string
  readonly files: Readonly<Record<string, string>>
  readonly config: unknown
  readonly attachments: Readonly<Record<string, { readonly contents: string }>>
}
export const settings: Settings = parse(settingsJson)

/** The JSON of a value; undefined if it has none. */
export const jsonOf = (value: unknown): string | undefined => stringify(value)

/** A pure function of the thread, answered at once. */
export const sync = <T>(name: string, ...args: readonly unknown[]): T => parse(hostSync(name, stringify(args)))

type Waiting = readonly [resolve: (value: unknown) => void, reject: (error: Error) => void]
export const waiting = new Map<number, Waiting>()
let lastCall = 0

/** A call of the server. */
export const call = <T = unknown>(name: string, ...args: readonly unknown[]): Promise<T> =>
  new Promise<unknown>((resolve, reject) => {
    const id = ++lastCall
    waiting.set(id, [resolve, reject])
    const refusal = hostCall(id, name, stringify(args))
    if (refusal === '') return
    waiting.delete(id)
    reject(new Error(refusal))
  }) as Promise<T>

export const done = (id: number, kind: number, text: string): void => hostDone(id, kind, text)
export const log = (level: string, text: string): void => hostLog(level, text)
