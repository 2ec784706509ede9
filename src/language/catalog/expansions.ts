import { botFunctions } from './bots.ts'
import { channelLookups } from './channels.ts'
import type { Expansion } from './expansion.ts'
import { surveyFunctions } from './surveys.ts'

export const expansions: Readonly<Record<string, Expansion>> = { ...channelLookups, ...botFunctions, ...surveyFunctions }
