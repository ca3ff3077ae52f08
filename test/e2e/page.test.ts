import { pageJourneys } from './page-journeys.ts';
import { startFakePageService } from './page-service.ts';

pageJourneys('the page over a small catalogue', startFakePageService);
