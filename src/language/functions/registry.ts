import { nearestSpellings } from '../../lib/text/spelling.ts'
import { associationFunctions } from './aggregates/association.ts'
import { collectionFunctions, digestFunctions } from './aggregates/collections.ts'
import { funnelFunctions } from './aggregates/funnel.ts'
import { histogramFunctions } from './aggregates/histogram.ts'
import { perKeyFunctions } from './aggregates/per-key.ts'
import { sequenceFunctions } from './aggregates/sequences.ts'
import { statisticsFunctions } from './aggregates/statistics.ts'
import { aggregateFunctions } from './aggregates/usual.ts'
import { arrayFunctions } from './arrays/arrays.ts'
import { arrayLambdaFunctions } from './arrays/lambdas.ts'
import { mapFunctions } from './arrays/maps.ts'
import { arrayReduceFunctions, suffixedFunctions } from './arrays/reduce.ts'
import { tupleFunctions } from './arrays/tuples.ts'
import { vectorFunctions } from './arrays/vectors.ts'
import { timeConversionFunctions } from './dates/conversion.ts'
import { intervalFunctions } from './dates/intervals.ts'
import { dateMakerFunctions } from './dates/makers.ts'
import { datePartFunctions } from './dates/parts.ts'
import { dateShiftFunctions } from './dates/shifts.ts'
import { dateStartFunctions } from './dates/starts.ts'
import { dateTextFunctions } from './dates/texts.ts'
import { timeWindowFunctions } from './dates/time-windows.ts'
import { arithmeticFunctions } from './numbers/arithmetic.ts'
import { bitFunctions, bitmapFunctions } from './numbers/bits.ts'
import { geoFunctions } from './numbers/geo.ts'
import { mathFunctions } from './numbers/math.ts'
import { readableFunctions } from './numbers/readable.ts'
import { roundingFunctions } from './numbers/rounding.ts'
import { otherNames } from './other-names.ts'
import { type FunctionFamily, type FunctionRow, taking } from './row.ts'
import { addressFunctions } from './text/addresses.ts'
import { cutFunctions } from './text/cuts.ts'
import { encodingFunctions } from './text/encodings.ts'
import { markupFunctions } from './text/markup.ts'
import { patternFunctions } from './text/patterns.ts'
import { replaceFunctions } from './text/replace.ts'
import { searchFunctions } from './text/search.ts'
import { splitFunctions } from './text/split.ts'
import { stringFunctions } from './text/strings.ts'
import { urlFunctions } from './text/urls.ts'
import { channelKindFunctions } from './values/channel-kinds.ts'
import { comparisonFunctions } from './values/comparison.ts'
import { conditionalFunctions } from './values/conditional.ts'
import { conversionFunctions } from './values/conversion.ts'
import { currencyFunctions } from './values/currencies.ts'
import { jsonFunctions } from './values/json.ts'
import { logicalFunctions } from './values/logical.ts'
import { membershipFunctions } from './values/membership.ts'
import { namedCastFunctions } from './values/named-casts.ts'
import { nullFunctions } from './values/nulls.ts'
import { productFunctions } from './values/product.ts'
import { neighbourFunctions } from './windows/neighbours.ts'
import { tableFunctions, windowFunctions } from './windows/windows.ts'

/** Every function of the language by family, in the order of the reference page. */
export const families: Readonly<Record<string, FunctionFamily>> = {
  Comparison: comparisonFunctions,
  Logic: taking('boolean', logicalFunctions),
  Conditions: conditionalFunctions,
  Null: nullFunctions,
  Arithmetic: taking('number', arithmeticFunctions),
  Conversion: conversionFunctions,
  'Conversion to times and text': timeConversionFunctions,
  'Casts by name of a type': namedCastFunctions,
  Text: taking('text', stringFunctions),
  'Parts of text': taking('text', cutFunctions),
  'Patterns in text': taking('text', patternFunctions),
  'Search in text': taking('text', searchFunctions),
  'Replacing in text': taking('text', replaceFunctions),
  'Splitting text': taking('text', splitFunctions),
  'Text of other forms': taking('text', markupFunctions),
  JSON: jsonFunctions,
  URLs: taking('text', urlFunctions),
  Addresses: addressFunctions,
  'Encodings and hashes': taking('text', encodingFunctions),
  Mathematics: taking('number', mathFunctions),
  Rounding: taking('number', roundingFunctions),
  Bits: taking('integer', bitFunctions),
  Bitmaps: bitmapFunctions,
  Vectors: vectorFunctions,
  Geography: taking('number', geoFunctions),
  'For people to read': readableFunctions,
  Product: { ...currencyFunctions, ...productFunctions, ...channelKindFunctions },
  'Parts of dates': taking(['time', 'text'], datePartFunctions),
  'Beginnings of dates': taking(['time', 'text'], dateStartFunctions),
  'Moving dates': dateShiftFunctions,
  'Making dates': dateMakerFunctions,
  'Dates as text': dateTextFunctions,
  Intervals: taking('integer', intervalFunctions),
  'Time windows': taking(['time', 'text'], timeWindowFunctions),
  Arrays: arrayFunctions,
  'Arrays and lambdas': arrayLambdaFunctions,
  Maps: mapFunctions,
  Tuples: tupleFunctions,
  Aggregates: aggregateFunctions,
  Statistics: statisticsFunctions,
  Association: associationFunctions,
  'Aggregates of arrays, maps and texts': collectionFunctions,
  'Sums and extremes of each key': perKeyFunctions,
  Histograms: histogramFunctions,
  'Funnels in statements': funnelFunctions,
  'Sequences and retention in statements': sequenceFunctions,
  Digests: digestFunctions,
  'Aggregates with suffixes': suffixedFunctions,
  'Aggregates over an array': arrayReduceFunctions,
  Membership: membershipFunctions,
  'Window functions': windowFunctions,
  'Rows before and behind': neighbourFunctions,
  'Table functions': tableFunctions,
}

export interface FoundFunction {
  /** The spelling in the registry. */
  readonly name: string
  readonly row: FunctionRow
}

function byName(all: Readonly<Record<string, FunctionFamily>>): ReadonlyMap<string, FunctionRow> {
  const rows = new Map<string, FunctionRow>()
  for (const [family, functions] of Object.entries(all))
    for (const [name, row] of Object.entries(functions)) {
      if (rows.has(name)) throw new TypeError(`function ${name} of the family ${family} has a row already`)
      rows.set(name, row)
    }
  return rows
}

export const registry: ReadonlyMap<string, FunctionRow> = byName(families)

/** The exact spelling has priority; otherwise any case, if the row allows it. */
export function lookup(name: string): FoundFunction | undefined {
  const exact = registry.get(name)
  if (exact) return { name, row: exact }
  const lower = name.toLowerCase()
  const row = registry.get(lower)
  return row?.caseInsensitive ? { name: lower, row } : undefined
}

/** Likely names for an unknown one. */
export const candidates = (name: string): readonly string[] => otherNames[name.toLowerCase()] ?? nearestSpellings(name, registry.keys())
