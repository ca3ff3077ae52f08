import { kind } from './kind.ts';

const PHONE_ABOUT = `
  [Полный комплект|В комплекте]: коробка, кабель[, чехол|, зарядка|, документы]
  ~ Аккумулятор [держит день|держит отлично|держит полтора дня], ёмкость $battery %
  ~ Не ремонтировался, не вскрывался, [все датчики работают|все кнопки нажимаются чётко]
  ~ Память $memory, цвет $color:m. [Сеть ловит хорошо|Динамики громкие, не хрипят]
  ~ [Всегда в чехле и с защитным стеклом|На экране защитное стекло с первого дня]
  Покупал в [официальном магазине|салоне связи|М.Видео|DNS], чек [сохранился|есть]
  ~ [Аккаунты отвязаны|Сброшен до заводских настроек], [на связи без проблем|готов к передаче]
  ~ [Камера снимает отлично|Снимает прекрасно даже вечером], [игры тянет|всё летает], памяти $memory хватает с запасом
  ~ Аппарат [личный|жены|рабочий, второй], [ничего не меняли|менялась только батарея в сервисе]
`;

const PHONE_ABOUT_EN = `
  ~ $memory, $color, battery health $battery%
  [Full set|Comes] with the original box, cable[ and a case| and charger|]
  ~ Never repaired, never opened. [Always used in a case with a screen protector|One owner since new]
  ~ Factory reset and unlocked, works with any SIM card
  Bought in an official store, receipt available. [All accounts signed out|No hidden issues]
`;

const BATTERY = '100*1.05; 98*1.03; 95; 93; 91; 89; 88; 87; 86; 85; 84*0.97; 82*0.95; 79*0.92; 76*0.9';

export const PHONES = [
  kind({
    category: 'телефоны',
    weight: 75,
    gender: 'm',
    wear: 'device',
    noun: 'айфон',
    english: 'iPhone',
    models: `
      Apple: iPhone 11~айфон 11 26000 x3; iPhone 12~айфон 12 33000 x3; iPhone 12 Pro~айфон 12 про 41000; iPhone 13~айфон 13 45000 x5; iPhone 13 mini~айфон 13 мини 39000; iPhone 13 Pro~айфон 13 про 57000 x2; iPhone 13 Pro Max~айфон 13 про макс 65000; iPhone 14~айфон 14 54000 x3; iPhone 14 Pro~айфон 14 про 71000 x2; iPhone 15~айфон 15 63000 x3; iPhone 15 Pro~айфон 15 про 86000 x2; iPhone 16~айфон 16 74000 x2; iPhone 16 Pro~айфон 16 про 105000
    `,
    slots: {
      memory: '128 ГБ=128GB; 128 ГБ=128GB; 256 ГБ=256GB*1.12',
      color: 'чёрный=black; белый=white; синий=blue',
      battery: BATTERY,
    },
    titles: `
      $model, $memory
      Apple $model $memory, $color
      $model $memory[ $color|, $color, АКБ $battery %|, комплект|]
      $alias, $memory
      $alias $memory $color
      Apple $model, $color, $memory
    `,
    about: `${PHONE_ABOUT}
      ~ Продаю $alias, [второй телефон|перешёл на новую модель|пользовалась жена]. Ёмкость аккумулятора $battery %
      ~ Face ID работает, [eSIM поддерживает|отпечатков ремонта нет]
      ~ Айфон [без нареканий|работает как часы], iCloud чистый, True Tone на месте
    `,
    titlesEn: `
      Apple $model $memory, $color
      $model $memory [unlocked|$color|full set]
    `,
    aboutEn: `${PHONE_ABOUT_EN}
      ~ Face ID and True Tone work, iCloud is clean
    `,
  }),
  kind({
    category: 'телефоны',
    weight: 70,
    gender: 'm',
    wear: 'device',
    noun: 'смартфон',
    english: 'smartphone',
    models: `
      Samsung: Galaxy A15~самсунг а15 13000; Galaxy A34~самсунг а34 19000 x2; Galaxy A54~самсунг а54 25000 x2; Galaxy A55~самсунг а55 29000; Galaxy S21 FE~самсунг с21 26000; Galaxy S22~самсунг с22 36000 x2; Galaxy S23~самсунг с23 47000 x2; Galaxy S23 Ultra~самсунг с23 ультра 72000; Galaxy S24~самсунг с24 60000; Galaxy S24 Ultra~самсунг с24 ультра 92000; Galaxy Z Flip5~самсунг флип 5 56000
      Xiaomi: Redmi Note 12~редми нот 12 14000 x3; Redmi Note 13 Pro~редми нот 13 про 22000 x3; Redmi 13C~редми 13с 10000 x2; 12T~сяоми 12т 29000; 13T Pro~сяоми 13т про 45000; 14~сяоми 14 56000; Poco X6 Pro~поко х6 про 27000 x2; Poco F5~поко ф5 28000
      Honor: X8b~хонор х8б 17000; 90~хонор 90 29000; 200~хонор 200 35000; X9b~хонор х9б 24000
      Realme: C55~реалми с55 12000; 11 Pro~реалми 11 про 24000; GT 3~реалми gt 3 33000
      Huawei: nova 11~хуавей нова 11 27000; P60 Pro~хуавей п60 про 55000; Pura 70~хуавей пура 70 62000
      Tecno: Spark 20~техно спарк 20 11000; Camon 20 Pro~техно камон 20 про 18000
      Google: Pixel 7~гугл пиксель 7 34000; Pixel 8~гугл пиксель 8 47000; Pixel 8 Pro~гугл пиксель 8 про 62000
    `,
    slots: {
      memory: '8/128 ГБ=8/128GB; 8/256 ГБ=8/256GB*1.1; 12/256 ГБ=12/256GB*1.18',
      color:
        'чёрн{ый/ая/ое/ые}=black; бел{ый/ая/ое/ые}=white; син{ий/яя/ее/ие}=blue; зелён{ый/ая/ое/ые}=green; сер{ый/ая/ое/ые}=grey; фиолетов{ый/ая/ое/ые}=purple',
      battery: '100; 98; 96; 95; 93; 92; 90',
    },
    titles: `
      $full, $memory
      $full $memory[ $color|, $color|, чёрный ящик не нужен|, полный комплект|]
      Смартфон $full $memory
      Телефон $full, $color
      $alias $memory
    `,
    about: `${PHONE_ABOUT}
      ~ Две сим-карты, отпечаток срабатывает сразу
      ~ [Экран без выгораний|Экран яркий, 120 Гц], зарядка быстрая, $alias [тянет любые игры|для работы и фото самое то]
    `,
    titlesEn: `
      $full $memory, $color
      $full smartphone $memory
    `,
    aboutEn: PHONE_ABOUT_EN,
  }),
];
