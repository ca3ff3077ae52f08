import { lines } from '../ad.ts';

/** A vehicle other than a car, such as a truck or a boat. */
export interface Vehicle {
  readonly category: string;
  readonly make: string;
  readonly model: string;
  readonly body: string;
  readonly noun: string;
  readonly english: string;
  readonly years: readonly [from: number, to: number];
  readonly prices: readonly [oldest: number, newest: number];
  /** Kilometres per year; 0 for vehicles that count engine hours or nothing. */
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

export interface CarModel {
  readonly make: string;
  readonly model: string;
  /** The colloquial name in Russian: «тойота камри». */
  readonly alias: string;
  readonly bodies: readonly string[];
  readonly years: readonly [from: number, to: number];
  /** Roubles for the oldest and for the newest year, in fair condition. */
  readonly prices: readonly [oldest: number, newest: number];
  /** `1.6 MT, 87 л.с.` */
  readonly engines: readonly string[];
  readonly weight: number;
}

/** Make / alias, then a line per model: model / alias | bodies | years | thousand roubles | engines | weight */
const TABLE = `
  # LADA (ВАЗ) / ваз
  ВАЗ 2107 / семёрка | седан | 1986–2012 | 35–190 | 1.5 MT 72, 1.6 MT 74 | 7
  ВАЗ 2106 / шестёрка | седан | 1980–2005 | 30–150 | 1.6 MT 75, 1.3 MT 64 | 3
  ВАЗ 2109 / девятка | хетчбэк | 1990–2004 | 40–140 | 1.5 MT 70 | 2
  ВАЗ 2110 / десятка | седан | 1998–2007 | 70–220 | 1.5 MT 78, 1.6 MT 81 | 3
  ВАЗ 2114 / четырка | хетчбэк | 2003–2013 | 90–290 | 1.5 MT 77, 1.6 MT 81 | 4
  ВАЗ 2121 Нива / нива | внедорожник | 1984–2020 | 90–680 | 1.7 MT 83 | 3
  LADA Priora / лада приора | седан, хетчбэк, универсал | 2007–2018 | 170–590 | 1.6 MT 98, 1.6 MT 106 | 4
  LADA Granta / лада гранта | седан, лифтбек | 2012–2025 | 290–950 | 1.6 MT 87, 1.6 AT 98, 1.6 MT 106 | 6
  LADA Vesta / лада веста | седан, универсал | 2015–2025 | 650–1650 | 1.6 MT 106, 1.8 MT 122, 1.6 CVT 113 | 5
  LADA Largus / лада ларгус | универсал | 2012–2025 | 480–1650 | 1.6 MT 87, 1.6 MT 106 | 3
  # Toyota / тойота
  Camry / камри | седан | 2002–2025 | 550–4300 | 2.4 AT 167, 2.5 AT 181, 3.5 AT 249 | 8
  Corolla / королла | седан, хетчбэк | 2001–2023 | 400–2500 | 1.6 AT 124, 1.6 MT 124, 1.6 CVT 122 | 5
  RAV4 / рав 4 | внедорожник | 2000–2024 | 550–4200 | 2.0 AT 152, 2.5 AT 199, 2.0 CVT 149 | 4
  Land Cruiser 200 / крузак | внедорожник | 2008–2021 | 2300–8200 | 4.5d AT 249, 4.6 AT 309 | 2
  Land Cruiser Prado / прадо | внедорожник | 2003–2023 | 1300–6500 | 2.8d AT 200, 4.0 AT 249 | 2
  Prius / приус | хетчбэк | 2004–2021 | 500–1900 | 1.8 CVT 99 | 2
  # Kia / киа
  Rio / рио | седан, хетчбэк | 2005–2022 | 330–1700 | 1.4 MT 100, 1.6 AT 123, 1.6 MT 123 | 7
  Ceed / сид | хетчбэк, универсал | 2007–2022 | 430–2150 | 1.6 AT 128, 1.6 MT 122 | 3
  Sportage / спортейдж | внедорожник | 2006–2024 | 520–3500 | 2.0 AT 150, 2.0d AT 185 | 4
  K5 / к5 | седан | 2020–2023 | 2200–3100 | 2.0 AT 150, 2.5 AT 194 | 2
  # Hyundai / хендай
  Solaris / солярис | седан, хетчбэк | 2010–2022 | 480–1650 | 1.4 MT 107, 1.6 AT 123, 1.6 MT 123 | 7
  Creta / крета | внедорожник | 2016–2024 | 1200–2800 | 1.6 AT 121, 2.0 AT 149 | 5
  Tucson / туссан | внедорожник | 2005–2024 | 480–3700 | 2.0 AT 149, 2.0d AT 185 | 3
  Getz / гетц | хетчбэк | 2003–2011 | 230–480 | 1.4 AT 97, 1.1 MT 66 | 2
  # Volkswagen / фольксваген
  Polo / поло | седан, лифтбек | 2010–2022 | 450–1700 | 1.6 MT 90, 1.6 AT 110 | 5
  Passat / пассат | седан, универсал | 1998–2020 | 230–2500 | 1.8 AT 152, 2.0d AMT 150 | 3
  Tiguan / тигуан | внедорожник | 2008–2022 | 750–3200 | 1.4 AMT 150, 2.0 AT 180 | 3
  # Skoda / шкода
  Octavia / октавия | лифтбек, универсал | 2004–2022 | 350–2500 | 1.6 MT 102, 1.4 AMT 150, 1.8 AMT 180 | 5
  Rapid / рапид | лифтбек | 2014–2022 | 700–1700 | 1.6 MT 110, 1.4 AMT 125 | 3
  # Renault / рено
  Logan / логан | седан | 2005–2022 | 210–1150 | 1.4 MT 75, 1.6 MT 82, 1.6 AT 102 | 6
  Duster / дастер | внедорожник | 2012–2022 | 650–1950 | 1.6 MT 114, 2.0 AT 143, 1.5d MT 109 | 5
  Sandero / сандеро | хетчбэк | 2010–2022 | 400–1250 | 1.6 MT 82, 1.6 AT 102 | 2
  # Ford / форд
  Focus / фокус | хетчбэк, седан, универсал | 2002–2018 | 220–1150 | 1.6 MT 105, 1.6 AMT 125, 2.0 AT 145 | 6
  Mondeo / мондео | седан | 2003–2018 | 280–1400 | 2.0 AT 149, 2.3 AT 161 | 2
  # Nissan / ниссан
  Qashqai / кашкай | внедорожник | 2007–2022 | 650–2400 | 1.6 MT 114, 2.0 CVT 144 | 4
  X-Trail / икстрейл | внедорожник | 2003–2022 | 480–2700 | 2.0 CVT 144, 2.5 CVT 171 | 3
  Almera / альмера | седан | 2000–2018 | 200–780 | 1.5 MT 98, 1.6 MT 102 | 3
  # Mazda / мазда
  3 / матрёшка | седан, хетчбэк | 2004–2020 | 330–2100 | 1.6 MT 105, 1.6 AT 104, 2.0 AT 150 | 4
  6 / мазда 6 | седан | 2003–2022 | 350–2900 | 2.0 AT 150, 2.5 AT 194 | 3
  CX-5 / сх-5 | внедорожник | 2012–2023 | 1350–3700 | 2.0 AT 150, 2.5 AT 194 | 4
  # BMW / бмв
  3 серии / трёшка | седан | 2000–2022 | 350–4300 | 2.0 AT 184, 2.0d AT 190 | 4
  5 серии / пятёрка | седан | 2001–2022 | 420–5600 | 2.0 AT 184, 3.0d AT 249 | 3
  X5 / х5 | внедорожник | 2002–2023 | 600–9000 | 3.0d AT 249, 3.0 AT 306 | 3
  # Mercedes-Benz / мерседес
  C-класс / цешка | седан | 2001–2021 | 380–3900 | 1.6 AT 156, 1.8 AT 184 | 3
  E-класс / ешка | седан | 2000–2022 | 400–5500 | 2.0 AT 184, 3.5 AT 249 | 3
  # Audi / ауди
  A4 / а4 | седан, универсал | 2001–2021 | 320–3400 | 1.8 AT 160, 2.0 AMT 190 | 3
  Q5 / ку5 | внедорожник | 2009–2022 | 1150–5200 | 2.0 AMT 249, 2.0 AT 225 | 2
  # Mitsubishi / мицубиси
  Lancer / лансер | седан | 2004–2016 | 300–950 | 1.5 MT 109, 1.8 CVT 143, 2.0 MT 150 | 4
  Outlander / аутлендер | внедорожник | 2004–2022 | 420–2800 | 2.0 CVT 146, 2.4 CVT 167 | 4
  # Chevrolet / шевроле
  Cruze / круз | седан, хетчбэк | 2009–2015 | 480–950 | 1.6 MT 109, 1.8 AT 141 | 3
  Lacetti / лачетти | седан, хетчбэк | 2004–2013 | 250–560 | 1.4 MT 95, 1.6 AT 109 | 3
  Niva / шнива | внедорожник | 2003–2020 | 240–890 | 1.7 MT 80 | 4
  # Honda / хонда
  CR-V / црв | внедорожник | 2002–2020 | 500–3300 | 2.0 AT 150, 2.4 AT 190 | 2
  Civic / цивик | седан, хетчбэк | 2001–2015 | 320–1250 | 1.8 AT 140, 1.4 MT 99 | 2
  # Haval / хавал
  Jolion / джолион | внедорожник | 2021–2025 | 1500–2350 | 1.5 AMT 143, 1.5 AMT 150 | 4
  F7 / ф7 | внедорожник | 2019–2025 | 1600–2900 | 1.5 AMT 150, 2.0 AMT 190 | 3
  # Chery / чери
  Tiggo 7 Pro / тигго 7 | внедорожник | 2020–2025 | 1450–2450 | 1.5 CVT 147 | 4
  Tiggo 4 / тигго 4 | внедорожник | 2019–2024 | 1150–1900 | 1.5 CVT 113, 2.0 CVT 122 | 2
  # Geely / джили
  Coolray / кулрей | внедорожник | 2020–2025 | 1450–2300 | 1.5 AMT 150, 1.5 AMT 147 | 3
  Monjaro / монжаро | внедорожник | 2022–2025 | 3000–4100 | 2.0 AT 238 | 3
  # Subaru / субару
  Forester / форестер | внедорожник | 2002–2021 | 450–3300 | 2.0 CVT 150, 2.5 AT 171 | 2
  # УАЗ / уаз
  Патриот / патриот | внедорожник, пикап | 2007–2025 | 330–1900 | 2.7 MT 128, 2.7 AT 150 | 3
  Хантер / хантер | внедорожник | 2005–2024 | 260–1350 | 2.7 MT 112, 2.7 MT 135 | 1
  # ГАЗ / газ
  31105 Волга / волга | седан | 2004–2009 | 90–280 | 2.3 MT 131, 2.4 MT 137 | 2
  24 Волга / волга 24 | седан | 1975–1985 | 120–450 | 2.4 MT 95 | 1
`;

export const CARS: readonly CarModel[] = parse(lines(TABLE));

function parse(rows: readonly string[]): CarModel[] {
  const cars: CarModel[] = [];
  let make = '';
  let makeAlias = '';
  for (const row of rows) {
    if (row.startsWith('# ')) {
      [make = '', makeAlias = ''] = row.slice(2).split(' / ');
      continue;
    }
    const [name = '', bodies = '', years = '', prices = '', engines = '', weight = ''] = row.split(' | ');
    const [model = '', nick = ''] = name.split(' / ');
    const [from = 0, to = 0] = years.split('–').map(Number);
    const [oldest = 0, newest = 0] = prices.split('–').map(Number);
    const alias =
      /^(лада|ваз|мазда|шестёрка|семёрка|девятка|десятка|четырка|нива|шнива|волга|крузак|прадо|матрёшка)/.test(nick)
        ? nick
        : `${makeAlias} ${nick}`;
    cars.push({
      make,
      model,
      alias,
      bodies: bodies.split(', '),
      years: [from, to],
      prices: [oldest * 1000, newest * 1000],
      engines: engines.split(', ').map((engine) => engine.replace(/ (\d+)$/, ', $1 л.с.')),
      weight: Number(weight),
    });
  }
  return cars;
}
