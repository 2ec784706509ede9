import { createContext } from 'preact'
import type { ChartPlace } from './annotation.ts'

export const ChartPlaceContext = createContext<ChartPlace>({})
