import { COLORS, kind } from './kind.ts';

export const SOUND = [
  kind({
    category: 'аудио и ТВ',
    weight: 42,
    gender: 'p',
    wear: 'device',
    noun: 'наушники',
    english: 'headphones',
    models: `
      Apple: AirPods 2~аирподсы 2 10500 x2; AirPods 3~аирподс 3 15000; AirPods Pro 2~аирподс про 2 20000 x3; AirPods Max~аирподс макс 46000
      Sony: WH-1000XM4~сони xm4 22000 x2; WH-1000XM5~сони xm5 30000; WF-C500~сони вкладыши 6000
      JBL: Tune 510BT~жбл 3900 x2; Live 660NC~жбл 9500; Wave Beam~жбл вкладыши 5000
      Marshall: Major IV~маршалл 10500; Monitor II~маршалл 17500
      Samsung: Galaxy Buds2 Pro~галакси бадс 11000; Galaxy Buds FE~бадс фе 7000
      HyperX: Cloud II~хайперикс 8000; Cloud Stinger~хайперикс стингер 4200
    `,
    slots: { color: 'чёрн{ый/ая/ое/ые}=black; бел{ый/ая/ое/ые}=white; син{ий/яя/ее/ие}=blue', hours: '20; 24; 28; 30' },
    titles: `
      Наушники $full
      $full, $color
      Беспроводные наушники $full
    `,
    about: `
      ~ Звук [чистый, басы есть|отличный], [шумоподавление работает|микрофон хороший], заряда хватает примерно на $hours часов
      ~ [Серийный номер пробивается|Чек и коробка есть]. Амбушюры [чистые|новые]
      ~ Цвет $color:m, [использовались пару месяцев|слушали только дома]
      Цвет $color:m, оригинал, [коробка и кабель|полный комплект]
      Оригинал, [серийный номер на коробке совпадает|чек есть], цвет $color:m
    `,
    titlesEn: `
      $full headphones, $color
      Wireless headphones $full
    `,
    aboutEn: `
      ~ Clear sound, good microphone, about $hours hours on one charge
      ~ Genuine, box [and receipt|and cable] included. [Used for a couple of months|Used at home only]
      Genuine, $color, full set with the box
    `,
  }),
  kind({
    category: 'аудио и ТВ',
    weight: 30,
    gender: 'm',
    wear: 'device',
    bulky: true,
    noun: 'телевизор',
    english: 'TV',
    models: `
      Samsung: UE43AU7100 33000; UE55CU8000 52000; QE55Q60B 66000; UE32T4500 17000
      LG: 43UQ75006 34000; 55UR78006 50000; OLED55C3 115000; 32LM576 17000
      Xiaomi: TV A2 43 25000 x2; TV A2 55 38000 x2; TV P1 50 32000
      Haier: 43 Smart TV MX 27000; 50 Smart TV S3 40000
      TCL: 55P635 37000; 43C635 36000
      Sony: Bravia KD-55X81J 68000
      Hisense: 43A6BG 28000; 65A6BG 56000
    `,
    slots: { bracket: 'на ножках=on its legs; с настенным кронштейном=with a wall bracket*1.04' },
    titles: `
      Телевизор $full
      Телевизор $full, $bracket
      ТВ $full, Smart TV
    `,
    about: `
      Smart TV, Wi-Fi, [YouTube и кинотеатры установлены|голосовой пульт], $bracket
      ~ Экран без царапин и битых пикселей, [пульт родной|два пульта]
      ~ [Стоял на даче, почти не включали|Висел в спальне, смотрели редко|Купили больше диагональю]
      Продаётся $bracket, [пульт и коробка|документы есть], Smart TV и Wi-Fi
      Цифровой тюнер, [три HDMI|два HDMI и USB], $bracket
    `,
    titlesEn: `
      $full Smart TV
      $full television, $bracket
    `,
    aboutEn: `
      Smart TV with Wi-Fi, $bracket, original remote
      ~ No scratches or dead pixels. [We bought a bigger one|Was hardly ever used]
      Remote and documents included, $bracket
    `,
  }),
  kind({
    category: 'аудио и ТВ',
    weight: 18,
    gender: 'f',
    wear: 'device',
    noun: 'колонка',
    english: 'speaker',
    models: `
      JBL: Charge 5~жбл чардж 5 14000 x2; Flip 6~жбл флип 6 10500 x2; Boombox 3~жбл бумбокс 3 38000; Go 3~жбл го 3 3900; PartyBox 110~жбл партибокс 31000
      Яндекс: Станция Мини~алиса мини 6500 x2; Станция 2~алиса 15000; Станция Лайт~алиса лайт 4500; Станция Макс~алиса макс 25000
      Marshall: Emberton II~маршалл эмбертон 15000; Acton III~маршалл эктон 24000
      Sony: SRS-XB13 4500; SRS-XG300 19000
    `,
    slots: { color: COLORS },
    titles: `
      Колонка $full
      $full, $color
      Портативная колонка $full
    `,
    about: `
      ~ Звук громкий и чистый, [басит хорошо|соседи оценили], батарея держит
      ~ [Комплект полный|Есть коробка и кабель], цвет $color:m. Работает без нареканий
      ~ [Брали на природу пару раз|Стояла на кухне], [влаги не боится|не падала]
      Цвет $color:m, [кабель и коробка|чек и коробка], оригинал
      Оригинал, [покупали на официальном сайте|серийный номер есть], цвет $color:m
    `,
    titlesEn: `
      $full speaker, $color
      Portable speaker $full
    `,
    aboutEn: `
      ~ Loud and clean sound, battery holds well
      ~ Box and cable included, [used a few times outdoors|stood in the kitchen], $color
      Genuine, $color, box and cable included
    `,
  }),
];
