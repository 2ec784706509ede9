import { malformed, parseJson } from './body.ts'
import { CaptureRefusal } from './refusal.ts'

// A body of many events is scanned once for the offsets of each, and each is parsed on demand: values take many times the memory
// of their text, so only those of one event exist at a time, and other requests run in between.

/** More than clients send at once: imports send some thousands. */
export const maxItems = 50_000
/** An event has at most 1 MB; escaped as `\uXXXX` it may be three times as long. */
export const longestItem = 4 * 1024 * 1024

/** Values of a list, parsed one by one, and again in each iteration. */
export class JsonItems implements Iterable<unknown> {
  private readonly json: Uint8Array
  private readonly starts: readonly number[]
  private readonly ends: readonly number[]

  constructor(json: Uint8Array, starts: readonly number[], ends: readonly number[]) {
    this.json = json
    this.starts = starts
    this.ends = ends
  }

  get count(): number {
    return this.starts.length
  }

  get bytes(): number {
    return this.json.length
  }

  *[Symbol.iterator](): Iterator<unknown> {
    for (let i = 0; i < this.starts.length; i++) yield parseJson(this.json.subarray(this.starts[i], this.ends[i]))
  }
}

export interface JsonBody {
  /** The list itself, or the one in `batch`; null if the body is neither. */
  readonly items: JsonItems | null
  /** The whole value without the list. */
  readonly value: unknown
}

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a]
const [openList, closeList, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d]
const bytesOfStep = 1 << 18
/** A list takes fifty times the memory of its brackets. Events have far fewer levels: those with more than 200 are refused one by one. */
const maxLevels = 1_000
const listKey = Buffer.from('"batch"')

/** Yields regularly. */
export function* scanJson(json: Uint8Array): Generator<void, JsonBody> {
  const scan = new Scan(json)
  if (json[0] === openList) {
    const items = yield* scan.list(0)
    scan.mustEnd()
    return { items, value: null }
  }
  if (json[0] !== openObject) return { items: null, value: parseJson(mustBeShort(json)) }
  const lists: { readonly start: number; readonly end: number; readonly items: JsonItems }[] = []
  let isListLast = false
  for (const _ of scan.fields()) {
    yield
    if (scan.isAtListKey) isListLast = json[scan.at] === openList
    if (scan.isAtListKey && isListLast) {
      const start = scan.at
      const items = yield* scan.list(start)
      lists.push({ start, end: scan.at, items })
    } else scan.skipValue()
  }
  scan.mustEnd()
  const value = parseJson(mustBeShort(without(json, lists)))
  return { items: isListLast ? lists.at(-1)!.items : null, value }
}

/** With `[]` in place of the lists. */
function without(json: Uint8Array, lists: readonly { readonly start: number; readonly end: number }[]): Uint8Array {
  if (lists.length === 0) return json
  const parts: Uint8Array[] = []
  let from = 0
  for (const { start, end } of lists) {
    parts.push(json.subarray(from, start), Buffer.from('[]'))
    from = end
  }
  return Buffer.concat([...parts, json.subarray(from)])
}

function mustBeShort(json: Uint8Array): Uint8Array {
  if (json.length <= longestItem) return json
  throw new CaptureRefusal('too-large', `An event has ${json.length} bytes of JSON; the limit is ${longestItem}.`)
}

class Scan {
  at = 0
  isAtListKey = false
  private readonly json: Uint8Array

  constructor(json: Uint8Array) {
    this.json = json
  }

  *list(start: number): Generator<void, JsonItems> {
    const { json } = this
    const starts: number[] = []
    const ends: number[] = []
    this.at = start + 1
    let lastStop = start
    this.skipBlanks()
    if (json[this.at] === closeList) this.at++
    else
      for (;;) {
        const from = this.at
        this.skipValue()
        if (this.at - from > longestItem) mustBeShort(json.subarray(from, this.at))
        if (starts.length === maxItems)
          throw new CaptureRefusal('too-large', `The request exceeds ${maxItems} events. Send smaller batches.`)
        starts.push(from)
        ends.push(this.at)
        this.skipBlanks()
        const next = json[this.at++]
        if (next === closeList) break
        if (next !== comma) throw this.unexpected(this.at - 1)
        this.skipBlanks()
        if (this.at - lastStop > bytesOfStep) {
          lastStop = this.at
          yield
        }
      }
    return new JsonItems(json, starts, ends)
  }

  /** Stops before the value of each field, which the caller must skip. */
  *fields(): Generator<void, void> {
    const { json } = this
    this.at = 1
    this.skipBlanks()
    if (json[this.at] === closeObject) {
      this.at++
      return
    }
    for (;;) {
      if (json[this.at] !== quote) throw this.unexpected(this.at)
      const from = this.at
      this.skipText()
      this.isAtListKey = this.at - from === listKey.length && listKey.every((byte, i) => json[from + i] === byte)
      this.skipBlanks()
      if (json[this.at++] !== colon) throw this.unexpected(this.at - 1)
      this.skipBlanks()
      yield
      this.skipBlanks()
      const next = json[this.at++]
      if (next === closeObject) return
      if (next !== comma) throw this.unexpected(this.at - 1)
      this.skipBlanks()
    }
  }

  mustEnd(): void {
    this.skipBlanks()
    if (this.at < this.json.length) throw this.unexpected(this.at)
  }

  /** Skips to the end of the value; mismatched brackets are found when it is parsed. */
  skipValue(): void {
    const first = this.json[this.at]
    if (first === quote) this.skipText()
    else if (first === openList || first === openObject) this.skipBrackets()
    else this.skipWord()
  }

  private skipBrackets(): void {
    const { json } = this
    let depth = 0
    for (; this.at < json.length; this.at++) {
      const byte = json[this.at]!
      if (byte === quote) {
        this.skipText()
        this.at--
      } else if (byte === openList || byte === openObject) {
        if (++depth > maxLevels) throw malformed(`nested more than ${maxLevels} levels deep`)
      } else if ((byte === closeList || byte === closeObject) && --depth === 0) {
        this.at++
        return
      }
    }
    throw malformed('Unexpected end of JSON input')
  }

  private skipText(): void {
    const { json } = this
    let at = this.at + 1
    for (let byte = json[at]; byte !== quote; byte = json[at]) {
      if (byte === undefined) throw malformed('Unterminated string in JSON')
      at += byte === backslash ? 2 : 1
    }
    this.at = at + 1
  }

  private skipWord(): void {
    const { json } = this
    const from = this.at
    for (; this.at < json.length; this.at++) {
      const byte = json[this.at]!
      if (byte <= 0x20 || byte === comma || byte === closeList || byte === closeObject || byte === quote || byte === colon) break
    }
    if (this.at === from) throw this.unexpected(from)
  }

  private skipBlanks(): void {
    const { json } = this
    while (this.at < json.length && json[this.at]! <= 0x20) this.at++
  }

  private unexpected(at: number) {
    if (at >= this.json.length) return malformed('Unexpected end of JSON input')
    return malformed(`Unexpected "${String.fromCharCode(this.json[at]!)}" in JSON at position ${at}`)
  }
}
