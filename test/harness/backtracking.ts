import { type AST, RegExpParser } from '@eslint-community/regexpp'

// Whether a regular expression can take more than linear time on some text. The expression becomes an automaton whose states are the characters it
// reads. A backtracking matcher tries every way in which a text can be read, so it is slow where one text leads from a loop into itself, or into
// another loop, in two ways (Weideman et al., 2016), and something behind may still fail. A search that is not tied to a place is a loop before all
// others. Assertions are taken as empty and as able to fail, bounded repetitions as a few copies: this may name a harmless expression, not miss a bad one.

export type Slowness = 'exponential' | 'polynomial' | null

interface Ending {
  readonly state: number
  /** Nothing that could fail stands behind it. */
  readonly isFree: boolean
}
interface Part {
  readonly first: readonly number[]
  readonly last: readonly Ending[]
  /** Whether it may be empty, and whether it then still has something to check. */
  readonly empty: 'never' | 'checked' | 'freely'
}

const nothing: Part = { first: [], last: [], empty: 'freely' }
const copiesOfBounded = 2
const lastCodePoint = 0x10ffff

type Ranges = readonly (readonly [number, number])[]
const digits: Ranges = [[0x30, 0x39]]
const words: Ranges = [...digits, [0x41, 0x5a], [0x5f, 0x5f], [0x61, 0x7a]]
const spaces: Ranges = [[9, 13], [32, 32], [0xa0, 0xa0], [0x1680, 0x1680], [0x2000, 0x200a], [0x2028, 0x2029], [0x202f, 0x202f], [0x205f, 0x205f], [0x3000, 0x3000], [0xfeff, 0xfeff]] // biome-ignore format: a table
const lineEnds: Ranges = [[10, 10], [13, 13], [0x2028, 0x2029]] // biome-ignore format: a table
const everything: Ranges = [[0, lastCodePoint]]

function complement(ranges: Ranges): Ranges {
  const out: [number, number][] = []
  let from = 0
  for (const [low, high] of [...ranges].sort(([a], [b]) => a - b)) {
    if (low > from) out.push([from, low - 1])
    from = Math.max(from, high + 1)
  }
  if (from <= lastCodePoint) out.push([from, lastCodePoint])
  return out
}

/** Letters in both cases, those of ASCII. */
function folded(ranges: Ranges): Ranges {
  return ranges.flatMap(([low, high]): Ranges => {
    const out: [number, number][] = [[low, high]]
    for (const [start, end, by] of [
      [0x41, 0x5a, 32],
      [0x61, 0x7a, -32],
    ] as const) {
      // biome-ignore format: a table
      const [a, b] = [Math.max(low, start), Math.min(high, end)]
      if (a <= b) out.push([a + by, b + by])
    }
    return out
  })
}

type Readable = AST.Character | AST.CharacterSet | AST.CharacterClass | AST.ExpressionCharacterClass

function rangesOf(node: AST.Element | AST.CharacterClassElement, flags: AST.Flags): Ranges {
  switch (node.type) {
    case 'Character':
      return [[node.value, node.value]]
    case 'CharacterClassRange':
      return [[node.min.value, node.max.value]]
    case 'CharacterClass': {
      const all = node.elements.flatMap((element) => rangesOf(element as AST.CharacterClassElement, flags))
      return node.negate ? complement(all) : all
    }
    case 'CharacterSet': {
      if (node.kind === 'any') return flags.dotAll ? everything : complement(lineEnds)
      if (node.kind === 'property') return everything
      const set = { digit: digits, word: words, space: spaces }[node.kind]
      return node.negate ? complement(set) : set
    }
    default:
      return everything
  }
}

class Automaton {
  /** What each state reads. */
  readonly reads: Ranges[] = []
  /** Ways from state to state; two ways between the same states stand twice. */
  readonly ways: number[][] = []
  isSlowInside: Slowness = null
  private readonly flags: AST.Flags

  constructor(flags: AST.Flags) {
    this.flags = flags
  }

  private state(node: Readable): Part {
    const ranges = rangesOf(node, this.flags)
    const state = this.reads.push(this.flags.ignoreCase ? folded(ranges) : ranges) - 1
    this.ways.push([])
    return { first: [state], last: [{ state, isFree: true }], empty: 'never' }
  }

  private link(from: readonly Ending[], to: readonly number[]): void {
    for (const { state } of from) this.ways[state]!.push(...to)
  }

  private both(a: Part, b: Part): Part {
    this.link(a.last, b.first)
    return {
      first: a.empty === 'never' ? a.first : [...a.first, ...b.first],
      last:
        b.empty === 'never'
          ? b.last
          : [...a.last.map(({ state, isFree }) => ({ state, isFree: isFree && b.empty === 'freely' })), ...b.last],
      empty: a.empty === 'never' || b.empty === 'never' ? 'never' : a.empty === 'checked' || b.empty === 'checked' ? 'checked' : 'freely',
    }
  }

  /** What the alternatives of a group come to. */
  any(alternatives: readonly AST.Alternative[]): Part {
    const parts = alternatives.map(({ elements }) => elements.reduce((before, element) => this.both(before, this.of(element)), nothing))
    const empties = parts.map((part) => part.empty)
    return {
      first: parts.flatMap((part) => part.first),
      last: parts.flatMap((part) => part.last),
      empty: empties.includes('freely') ? 'freely' : empties.includes('checked') ? 'checked' : 'never',
    }
  }

  private of(node: AST.Element): Part {
    switch (node.type) {
      case 'Group':
      case 'CapturingGroup':
        return this.any(node.alternatives)
      case 'Quantifier':
        return this.repeated(node)
      case 'Assertion':
        if (node.kind === 'lookahead' || node.kind === 'lookbehind') {
          const inside = new Automaton(this.flags)
          const part = inside.any(node.alternatives)
          // It is looked at from every place the rest comes to: a loop in it is a loop within theirs.
          const slowness = inside.slowness(part, true)
          if (slowness || inside.hasLoop()) this.isSlowInside = slowness ?? 'polynomial'
        }
        return { ...nothing, empty: 'checked' }
      case 'Backreference': {
        const groups = Array.isArray(node.resolved) ? node.resolved : [node.resolved]
        if (groups.some((group) => /[*+]|\{\d+,\}/.test(group.raw))) this.isSlowInside ??= 'polynomial'
        return { ...nothing, empty: 'checked' }
      }
      default:
        return this.state(node as Readable)
    }
  }

  private repeated({ element, min, max }: AST.Quantifier): Part {
    let whole = nothing
    const needed = Math.min(min, copiesOfBounded)
    for (let i = 0; i < needed; i++) whole = this.both(whole, this.of(element))
    if (max === Number.POSITIVE_INFINITY) {
      const loop = this.of(element)
      this.link(loop.last, loop.first)
      return this.both(whole, { ...loop, empty: loop.empty === 'checked' ? 'checked' : 'freely' })
    }
    for (let i = needed; i < Math.min(max, needed + copiesOfBounded); i++) {
      const one = this.of(element)
      whole = this.both(whole, { ...one, empty: one.empty === 'checked' ? 'checked' : 'freely' })
    }
    return whole
  }

  hasLoop(): boolean {
    return this.ways.some((_, state) => this.reachable(state).has(state))
  }

  private reachable(from: number): Set<number> {
    const seen = new Set<number>()
    const left = [...this.ways[from]!]
    for (let state = left.pop(); state !== undefined; state = left.pop()) {
      if (seen.has(state)) continue
      seen.add(state)
      left.push(...this.ways[state]!)
    }
    return seen
  }

  /** Whether some text is read in more ways than its length has characters. */
  slowness(whole: Part, isTied: boolean): Slowness {
    if (this.isSlowInside) return this.isSlowInside
    const masks = this.masks()
    // Where the match is found at once, nothing is tried again.
    const ends = new Set(whole.last.filter(({ isFree }) => isFree).map(({ state }) => state))
    const ways = this.ways.map((targets) => targets.filter((target) => !ends.has(target)))
    if (!isTied) {
      // The search itself: any character, again and again, before the first one that counts.
      ways.push([ways.length, ...whole.first.filter((state) => !ends.has(state))])
      masks.push(~0n)
    }
    const reach = ways.map((_, state) => {
      const seen = new Set<number>()
      const left = [...ways[state]!]
      for (let at = left.pop(); at !== undefined; at = left.pop()) {
        if (seen.has(at)) continue
        seen.add(at)
        left.push(...ways[at]!)
      }
      return seen
    })
    const looping = ways.map((_, state) => state).filter((state) => reach[state]!.has(state))
    for (const state of looping) if (this.isAmbiguous(state, ways, masks, reach)) return 'exponential'
    for (const from of looping)
      for (const to of looping) if (from !== to && reach[from]!.has(to) && this.leadsOver(from, to, ways, masks, reach)) return 'polynomial'
    return null
  }

  /** Two ways round a loop on one text. */
  private isAmbiguous(loop: number, ways: readonly number[][], masks: readonly bigint[], reach: readonly Set<number>[]): boolean {
    const isInside = (state: number) => reach[state]!.has(loop) && reach[loop]!.has(state)
    const seen = new Set<string>()
    const left: [number, number, boolean][] = [[loop, loop, false]]
    for (let pair = left.pop(); pair; pair = left.pop()) {
      const [a, b, isSplit] = pair
      for (const [i, x] of ways[a]!.entries())
        for (const [j, y] of ways[b]!.entries()) {
          if (!isInside(x) || !isInside(y) || (masks[x]! & masks[y]!) === 0n) continue
          const isSplitNow = isSplit || x !== y || (a === b && i !== j)
          if (x === loop && y === loop && isSplitNow) return true
          const name = `${x},${y},${isSplitNow}`
          if (!seen.has(name)) {
            seen.add(name)
            left.push([x, y, isSplitNow])
          }
        }
    }
    return false
  }

  /** One text that leads round the first loop, from it into the second, and round the second. */
  private leadsOver(from: number, to: number, ways: readonly number[][], masks: readonly bigint[], reach: readonly Set<number>[]): boolean {
    const isRound = (state: number, loop: number) => reach[state]!.has(loop) && reach[loop]!.has(state)
    const seen = new Set<string>()
    const left: [number, number, number][] = [[from, from, to]]
    for (let three = left.pop(); three; three = left.pop()) {
      const [a, b, c] = three
      for (const x of ways[a]!) {
        if (!isRound(x, from)) continue
        for (const z of ways[c]!) {
          const shared = masks[x]! & masks[z]!
          if (!isRound(z, to) || shared === 0n) continue
          for (const y of ways[b]!) {
            if ((shared & masks[y]!) === 0n || !(y === to || reach[y]!.has(to))) continue
            if (x === from && y === to && z === to) return true
            const name = `${x},${y},${z}`
            if (!seen.has(name)) {
              seen.add(name)
              left.push([x, y, z])
            }
          }
        }
      }
    }
    return false
  }

  /** What each state reads, as bits: one for each stretch of characters that no state tells apart. */
  private masks(): bigint[] {
    const starts = [...new Set([0, ...this.reads.flatMap((ranges) => ranges.flatMap(([low, high]) => [low, high + 1]))])].sort(
      (a, b) => a - b,
    )
    return this.reads.map((ranges) => {
      let mask = 0n
      for (const [i, start] of starts.entries()) if (ranges.some(([low, high]) => low <= start && start <= high)) mask |= 1n << BigInt(i)
      return mask
    })
  }
}

/** Whether every match begins at the start of the text, or at the place that a sticky search says. */
const isTied = (alternatives: readonly AST.Alternative[], flags: AST.Flags): boolean =>
  flags.sticky ||
  alternatives.every(({ elements: [first] }) => {
    if (first?.type === 'Assertion') return first.kind === 'start' && !flags.multiline
    return (first?.type === 'Group' || first?.type === 'CapturingGroup') && isTied(first.alternatives, flags)
  })

export function slownessOf(source: string, flags: string): Slowness {
  const parsed = new RegExpParser({ ecmaVersion: 2025 })
  const flagsNode = parsed.parseFlags(flags)
  const { alternatives } = parsed.parsePattern(source, 0, source.length, { unicode: flagsNode.unicode, unicodeSets: flagsNode.unicodeSets })
  const tied = alternatives.filter((alternative) => isTied([alternative], flagsNode))
  const loose = alternatives.filter((alternative) => !isTied([alternative], flagsNode))
  for (const [some, areTied] of [
    [tied, true],
    [loose, false],
  ] as const) {
    // biome-ignore format: a table
    if (some.length === 0) continue
    const automaton = new Automaton(flagsNode)
    const slowness = automaton.slowness(automaton.any(some), areTied)
    if (slowness) return slowness
  }
  return null
}
