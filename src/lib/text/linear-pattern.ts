// User-supplied patterns, matched in time linear in the text: all paths through the pattern are followed at the same time, without backtracking
// (Thompson, 1968). Supports what RE2 and JavaScript have in common: no back references, no lookaround.

type Step =
  | { readonly kind: 'read'; readonly character: RegExp }
  | { readonly kind: 'jump'; readonly to: number[] }
  | { readonly kind: 'start' }
  | { readonly kind: 'end' }

const longestPattern = 1_000
/** The most steps that a pattern is compiled to. Those of a repetition that is dropped again, `{0}`, count too: they take the same time. */
const mostCompiled = 10_000
/** The most steps that one pattern follows in all of its texts together: about a tenth of a second. */
const mostFollowed = 2_000_000

/** The pattern is correct, but takes more work than one pattern may. */
export class PatternTooLarge extends SyntaxError {
  override readonly name = 'PatternTooLarge'
}

class Compiler {
  readonly steps: Step[] = []
  /** Steps that were ever added, and places that were read again. */
  private work = 0
  private at = 0
  private readonly source: string
  private readonly flags: string

  constructor(source: string, flags: string) {
    this.source = source
    this.flags = flags
  }

  whole(): readonly Step[] {
    this.either()
    if (this.at < this.source.length) throw new SyntaxError(`Unmatched "${this.source[this.at]}"`)
    return this.steps
  }

  private add(step: Step): Step {
    this.spend()
    this.steps.push(step)
    return step
  }

  private spend(): void {
    if (++this.work > mostCompiled)
      throw new PatternTooLarge(`It expands to more than ${mostCompiled} steps. Use fewer or smaller repetitions`)
  }

  private jump(...to: number[]): number[] {
    this.add({ kind: 'jump', to })
    return to
  }

  private either(): void {
    const ends: number[][] = []
    for (;;) {
      const branches = this.jump(this.steps.length + 1)
      this.sequence()
      ends.push(this.jump())
      if (this.source[this.at] !== '|') break
      this.at++
      branches.push(this.steps.length)
    }
    for (const end of ends) end.push(this.steps.length)
  }

  private sequence(): void {
    while (this.at < this.source.length && !'|)'.includes(this.source[this.at]!)) this.repeated()
  }

  private repeated(): void {
    const [from, first] = [this.at, this.steps.length]
    this.atom()
    const [least, most] = this.counts()
    const behind = this.at
    this.steps.length = first
    const again = () => {
      this.at = from
      this.atom()
    }
    for (let i = 0; i < least; i++) again()
    if (most === Number.POSITIVE_INFINITY) {
      const begin = this.steps.length
      const exit = this.jump(begin + 1)
      again()
      this.jump(begin)
      exit.push(this.steps.length)
    } else {
      const exits: number[][] = []
      for (let i = least; i < most; i++) {
        exits.push(this.jump(this.steps.length + 1))
        again()
      }
      for (const exit of exits) exit.push(this.steps.length)
    }
    this.at = behind
  }

  private counts(): [least: number, most: number] {
    const found = /[*+?]|\{(\d{1,4})(?:(,)(\d{1,4})?)?\}/y
    found.lastIndex = this.at
    const match = found.exec(this.source)
    if (!match) return [1, 1]
    this.at += match[0].length
    if (this.source[this.at] === '?') this.at++ // lazy: whether there is a match is the same
    const [sign, least, comma, most] = match
    if (sign === '*') return [0, Number.POSITIVE_INFINITY]
    if (sign === '+') return [1, Number.POSITIVE_INFINITY]
    if (sign === '?') return [0, 1]
    return [Number(least), comma === undefined ? Number(least) : most === undefined ? Number.POSITIVE_INFINITY : Number(most)]
  }

  private atom(): void {
    this.spend()
    const character = this.source[this.at]!
    if (character === '(') {
      this.at++
      if (this.source[this.at] === '?') {
        if (this.source[this.at + 1] !== ':') throw new SyntaxError('Unsupported group: only (?: is allowed after (')
        this.at += 2
      }
      this.either()
      if (this.source[this.at] !== ')') throw new SyntaxError('Unterminated group')
      this.at++
    } else if (character === '^' || character === '$') {
      this.at++
      this.add({ kind: character === '^' ? 'start' : 'end' })
    } else {
      const one = /\[\^?(?:\\.|[^\]\\])+\]|\\[dDwWsStnr]|\\[^A-Za-z0-9]|[^*+?{}[\]\\]/suy
      one.lastIndex = this.at
      const match = one.exec(this.source)
      if (!match) throw new SyntaxError(`Invalid pattern at "${this.source.slice(this.at, this.at + 10)}"`)
      this.at += match[0].length
      this.add({ kind: 'read', character: new RegExp(`^${match[0]}$`, this.flags) })
    }
  }
}

/**
 * Whether a part of a text matches. Throws a SyntaxError for an invalid pattern, and a PatternTooLarge for one that would take too long, when it is compiled or
 * after so many texts; `(?i)` in front ignores case.
 */
export function linearPattern(pattern: string): (text: string) => boolean {
  if (pattern.length > longestPattern) throw new PatternTooLarge(`A pattern has at most ${longestPattern} characters`)
  const isFolded = pattern.startsWith('(?i)')
  const steps = new Compiler(isFolded ? pattern.slice(4) : pattern, isFolded ? 'sui' : 'su').whole()
  let followed = 0
  return (text) => {
    const characters = [...text]
    let states = new Set<number>()
    for (let i = 0; i <= characters.length; i++) {
      const reached = new Set<number>()
      const left = [0, ...states]
      for (let state = left.pop(); state !== undefined; state = left.pop()) {
        if (reached.has(state)) continue
        if (++followed > mostFollowed)
          throw new PatternTooLarge(`Matching it against all names takes more than ${mostFollowed} steps. Use a simpler pattern`)
        reached.add(state)
        const step = steps[state]
        if (!step) return true
        if (step.kind === 'jump') left.push(...step.to)
        else if ((step.kind === 'start' && i === 0) || (step.kind === 'end' && i === characters.length)) left.push(state + 1)
      }
      states = new Set()
      for (const state of reached) {
        const step = steps[state]!
        if (step.kind === 'read' && i < characters.length && step.character.test(characters[i]!)) states.add(state + 1)
      }
    }
    return false
  }
}
