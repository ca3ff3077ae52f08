import { lines } from '../phrase.ts';

/** What else has wheels, tracks or a hull: category, make, model, body, years, prices. */
export interface Vehicle {
  readonly category: string;
  readonly make: string;
  readonly model: string;
  readonly body: string;
  readonly noun: string;
  readonly english: string;
  readonly years: readonly [from: number, to: number];
  readonly prices: readonly [oldest: number, newest: number];
  /** Kilometres a year; 0 for what counts engine hours or nothing. */
  readonly yearlyKm: number;
  readonly weight: number;
}

/** make | model | body | noun / english | years | thousand roubles | thousand km a year | weight */
const TABLES: readonly (readonly [category: string, table: string])[] = [
  [
    'мотоциклы',
    `
    Honda | CB400 | дорожный | мотоцикл / motorcycle | 1996–2012 | 190–480 | 4 | 4
    Honda | CBR600RR | спортбайк | мотоцикл / motorcycle | 2003–2016 | 380–950 | 3 | 2
    Honda | Dio | скутер | скутер / scooter | 1998–2012 | 35–90 | 2 | 3
    Yamaha | YBR125 | дорожный | мотоцикл / motorcycle | 2008–2017 | 90–220 | 4 | 3
    Yamaha | R6 | спортбайк | мотоцикл / motorcycle | 2004–2017 | 400–1100 | 3 | 2
    Yamaha | Jog | скутер | скутер / scooter | 1999–2013 | 30–85 | 2 | 2
    Suzuki | GSX-R750 | спортбайк | мотоцикл / motorcycle | 2002–2016 | 350–980 | 3 | 2
    Suzuki | Bandit 400 | дорожный | мотоцикл / motorcycle | 1993–2002 | 130–260 | 4 | 2
    Kawasaki | Ninja 400 | спортбайк | мотоцикл / motorcycle | 2018–2023 | 480–790 | 4 | 2
    BMW | R1250GS | туристический | мотоцикл / motorcycle | 2018–2023 | 1450–2500 | 7 | 2
    Harley-Davidson | Sportster 883 | круизер | мотоцикл / motorcycle | 2004–2020 | 520–1150 | 3 | 2
    Урал | М-72 | с коляской | мотоцикл / motorcycle | 1965–1990 | 60–160 | 1 | 2
    ИЖ | Юпитер 5 | с коляской | мотоцикл / motorcycle | 1985–2003 | 25–90 | 1 | 3
    ИЖ | Планета 5 | дорожный | мотоцикл / motorcycle | 1987–2006 | 25–95 | 1 | 3
    Ява | 350/638 | дорожный | мотоцикл / motorcycle | 1984–1994 | 60–180 | 1 | 2
    Минск | D4 125 | дорожный | мотоцикл / motorcycle | 2012–2023 | 60–150 | 2 | 2
    Racer | Panther 250 | эндуро | мотоцикл / motorcycle | 2015–2024 | 85–210 | 2 | 3
    Regulmoto | Sport-003 | эндуро | питбайк / pit bike | 2018–2025 | 75–190 | 2 | 3
    Stels | Guepard 800 | квадроцикл | квадроцикл / quad bike | 2015–2024 | 420–990 | 2 | 2
    CFMOTO | CFORCE 600 | квадроцикл | квадроцикл / quad bike | 2018–2025 | 560–1100 | 2 | 2
    Буран | 4Т | снегоход | снегоход / snowmobile | 2014–2024 | 220–590 | 0 | 2
    Тайга | Варяг 550 | снегоход | снегоход / snowmobile | 2012–2023 | 230–620 | 0 | 2
    `,
  ],
  [
    'грузовики и спецтехника',
    `
    ГАЗ | ГАЗель Next | фургон | фургон / van | 2014–2025 | 900–2900 | 28 | 5
    ГАЗ | ГАЗель 3302 | бортовой | грузовик / truck | 2004–2021 | 220–1100 | 20 | 5
    ГАЗ | Соболь 2752 | фургон | фургон / van | 2005–2020 | 230–950 | 18 | 2
    КАМАЗ | 65115 | самосвал | самосвал / dump truck | 2006–2023 | 1300–6500 | 30 | 3
    КАМАЗ | 5490 | тягач | тягач / tractor unit | 2014–2023 | 2100–6200 | 75 | 3
    МАЗ | 5440 | тягач | тягач / tractor unit | 2007–2022 | 1100–5200 | 70 | 2
    Volvo | FH | тягач | тягач / tractor unit | 2010–2021 | 2600–8200 | 90 | 2
    Mercedes-Benz | Sprinter | фургон | фургон / van | 2005–2021 | 750–4300 | 30 | 3
    Ford | Transit | фургон | фургон / van | 2006–2021 | 550–3100 | 28 | 3
    Hyundai | Porter | бортовой | грузовик / truck | 2005–2021 | 450–2200 | 20 | 3
    Isuzu | Elf | рефрижератор | грузовик / truck | 2008–2022 | 1100–4700 | 30 | 2
    МТЗ | Беларус 82.1 | трактор | трактор / tractor | 1995–2023 | 420–2700 | 0 | 3
    JCB | 3CX | экскаватор-погрузчик | экскаватор-погрузчик / backhoe loader | 2005–2021 | 1700–7800 | 0 | 2
    Hitachi | ZX200 | экскаватор | экскаватор / excavator | 2006–2019 | 2600–8900 | 0 | 2
    Toyota | 8FBN15 | погрузчик | вилочный погрузчик / forklift | 2006–2020 | 480–1700 | 0 | 2
    `,
  ],
  [
    'водный транспорт',
    `
    Казанка | 5М4 | моторная лодка | лодка / boat | 1985–2015 | 90–420 | 0 | 3
    Обь | 3 | моторная лодка | лодка / boat | 1984–1994 | 70–190 | 0 | 2
    Прогресс | 4 | моторная лодка | лодка / boat | 1980–1996 | 65–240 | 0 | 3
    Флагман | 330 | лодка ПВХ | лодка / inflatable boat | 2014–2025 | 28–85 | 0 | 4
    Посейдон | Викинг 340 | лодка ПВХ | лодка / inflatable boat | 2013–2025 | 25–80 | 0 | 3
    Yamarin | 54 BR | катер | катер / motor boat | 2006–2019 | 950–3200 | 0 | 2
    Yamaha | F9.9 | лодочный мотор | мотор / outboard motor | 2008–2023 | 95–340 | 0 | 3
    Sea-Doo | GTX 155 | гидроцикл | гидроцикл / jet ski | 2008–2021 | 560–1900 | 0 | 2
    `,
  ],
];

export const VEHICLES: readonly Vehicle[] = TABLES.flatMap(([category, table]) =>
  lines(table).map((line) => {
    const [make = '', model = '', body = '', nouns = '', years = '', prices = '', km = '', weight = ''] =
      line.split(' | ');
    const [noun = '', english = ''] = nouns.split(' / ');
    const [from = 0, to = 0] = years.split('–').map(Number);
    const [oldest = 0, newest = 0] = prices.split('–').map(Number);
    return {
      category,
      make,
      model,
      body,
      noun,
      english,
      years: [from, to] as const,
      prices: [oldest * 1000, newest * 1000] as const,
      yearlyKm: Number(km) * 1000,
      weight: Number(weight),
    };
  }),
);
